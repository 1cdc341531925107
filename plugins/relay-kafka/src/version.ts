/** Written by `npm run pins` from package.json. */
export const version = '0.1.0';
