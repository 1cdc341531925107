export { FileSessionStore } from './file-session-store.js';
export { snapshotsFiles, snapshotsFiles as default } from './plugin.js';
