export { createBubblewrapSandbox } from './bubblewrap-sandbox.js';
export type { BubblewrapOptions } from './bubblewrap-sandbox.js';
export { sandboxBubblewrap, sandboxBubblewrap as default } from './sandbox-bubblewrap.js';
