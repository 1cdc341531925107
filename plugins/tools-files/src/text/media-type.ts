interface Sign {
  readonly type: string;
  readonly at: number;
  readonly hex: string;
}

const signs: readonly Sign[] = [
  { type: 'image/png', at: 0, hex: '89504e470d0a1a0a' },
  { type: 'image/jpeg', at: 0, hex: 'ffd8ff' },
  { type: 'image/gif', at: 0, hex: '474946383' },
  { type: 'image/webp', at: 8, hex: '57454250' },
  { type: 'image/bmp', at: 0, hex: '424d' },
  { type: 'image/avif', at: 4, hex: '6674797061766966' },
  { type: 'application/pdf', at: 0, hex: '255044462d' },
  { type: 'application/zip', at: 0, hex: '504b0304' },
  { type: 'application/gzip', at: 0, hex: '1f8b' },
  { type: 'application/wasm', at: 0, hex: '0061736d' },
  { type: 'application/x-elf', at: 0, hex: '7f454c46' },
  { type: 'application/x-sqlite3', at: 0, hex: '53514c69746520666f726d61742033' },
];

/** The media type of binary data, by its first bytes. */
export function mediaType(bytes: Buffer): string {
  const head = bytes.subarray(0, 32).toString('hex');
  return signs.find((sign) => head.startsWith(sign.hex, sign.at * 2))?.type ?? 'application/octet-stream';
}
