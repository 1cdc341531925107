export { policyBudget, policyBudget as default } from './policy-budget.js';
export type { Price, Prices } from './prices.js';
export { readBudget, setBudget } from './tree-budget.js';
export type { BudgetReport, BudgetSetting } from './tree-budget.js';
