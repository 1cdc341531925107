import { z } from 'zod';

/** Members that several tools take. */
export const filePath = z
  .string()
  .describe('Path of the file, relative to the workspace, such as src/app.ts. Symbolic links are not followed.');

export const folderPath = z.string().default('.').describe('Path of the folder, relative to the workspace.');

export const expectedSha256 = z
  .string()
  .regex(/^[0-9a-fA-F]{64}$/, 'must be 64 hexadecimal digits')
  .toLowerCase()
  .optional()
  .describe('The sha256 that read gave for the file. When the file has another one by now, nothing is changed.');

export function resultLimit(most: number, usual: number) {
  return z.int().min(1).max(most).default(usual);
}
