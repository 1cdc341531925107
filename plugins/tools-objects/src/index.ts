export { generateObjectTool } from './generate-object-tool.js';
export { toolsObjects, toolsObjects as default } from './tools-objects.js';
