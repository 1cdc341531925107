import type { JsonValue } from '@perdure/events';
import { withFiles, type Tool } from '@perdure/plugin-api';
import { z } from 'zod';
import { readContent, type FileContent } from '../effect/file-version.js';
import { fileFailure, quoted } from '../failure.js';
import { withDirectory } from '../root/root.js';
import { encodingSign, textBytes } from '../text/encoding.js';
import { scanLines, takeLines } from '../text/line-window.js';
import { mediaType } from '../text/media-type.js';
import { fileTool, type FileCall, type FileToolSetting } from './file-tool.js';
import { filePath } from './input.js';

const LARGEST_OUTPUT = 256 * 1024;
const LONGEST_LINE = 8192;

const input = z.strictObject({
  file_path: filePath,
  offset: z.int().min(0).default(0).describe('Lines to skip: 0 begins with the first line.'),
  limit: z.int().min(1).max(2000).default(500).describe('The most lines to return.'),
});
type Input = z.output<typeof input>;

export function readTool(setting: FileToolSetting): Tool {
  return fileTool(setting, {
    name: 'read',
    description:
      'Reads lines of a text file (UTF-8, or UTF-16 with a byte order mark; up to 64 MiB). ' +
      'When truncated is true, go on with offset: next_offset. Images are shown; other binary files are described.',
    inputSchema: input,
    effect: 'read',
    missing: 'file_not_found',
    pathOf: (given) => given.file_path,
    execute: async (call) => {
      const name = call.path.segments.at(-1);
      if (name === undefined) throw fileFailure('not_a_file', `${quoted(call.path.given)} is a folder; use list.`);
      const content = await withDirectory(call.root, call.path.segments.slice(0, -1), async (directory) => {
        const file = await directory.openFile(name, 'read');
        try {
          return await readContent(file, call.path.given);
        } finally {
          await file.handle.close();
        }
      });
      const text = textBytes(content.bytes);
      return typeof text === 'string' ? describeBinary(call, content, text) : showLines(call, content, text);
    },
  });
}

async function showLines(call: FileCall<Input>, content: FileContent, text: Buffer): Promise<JsonValue> {
  const { offset, limit } = call.input;
  const scan = await scanLines(text, offset);
  const limits = { lines: limit, bytes: LARGEST_OUTPUT, lineCharacters: LONGEST_LINE };
  const window = takeLines(text, scan.start, limits);
  const { encoding, bomBytes } = encodingSign(content.bytes);
  const end = offset + window.lines;
  return {
    file_path: call.path.relative,
    type: 'text',
    encoding,
    byte_order_mark: bomBytes > 0,
    line_ending: scan.lineEnding,
    total_bytes: content.bytes.length,
    total_lines: scan.totalLines,
    start_line: window.lines === 0 ? 0 : offset + 1,
    end_line: window.lines === 0 ? 0 : end,
    content: window.content,
    truncated: !window.complete,
    ...(window.complete ? {} : { next_offset: end }),
    ...(window.cutLines === 0 ? {} : { cut_lines: window.cutLines }),
    sha256: content.sha256,
  };
}

function describeBinary(call: FileCall<Input>, content: FileContent, reason: 'binary' | 'invalid'): JsonValue {
  const type = mediaType(content.bytes);
  const isImage = type.startsWith('image/');
  const described = {
    file_path: call.path.relative,
    type: isImage ? 'image' : 'binary',
    mime_type: type,
    total_bytes: content.bytes.length,
    reason: reason === 'binary' ? 'The file holds binary data.' : 'The file is not valid UTF-8.',
    sha256: content.sha256,
  };
  const filename = call.path.segments.at(-1) ?? '';
  return withFiles(described, isImage ? [{ bytes: content.bytes, mediaType: type, filename }] : []);
}
