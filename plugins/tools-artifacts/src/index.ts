export { readArtifactTool } from './read-artifact.js';
export { toolsArtifacts, toolsArtifacts as default } from './tools-artifacts.js';
