import { gzipSync } from 'node:zlib';

/** A ustar archive of files, the same bytes for the same input: https://www.gnu.org/software/tar/manual/html_node/Standard.html */
export function tarball(files, seconds) {
  const parts = [...files]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([path, { content, mode = 0o644 }]) => {
      const bytes = Buffer.from(content);
      return [header({ path, size: bytes.length, mode, seconds }), bytes, Buffer.alloc(-bytes.length & 511)];
    });
  return gzipSync(Buffer.concat([...parts, Buffer.alloc(1024)]), { level: 9 });
}

function header({ path, size, mode, seconds }) {
  if (Buffer.byteLength(path) > 100) throw new Error(`Too long for the header of a tar archive: ${path}`);
  const block = Buffer.alloc(512);
  const octal = (value, digits) => `${value.toString(8).padStart(digits, '0')}\0`;
  block.write(path, 0);
  block.write(octal(mode, 7), 100);
  block.write(octal(0, 7), 108);
  block.write(octal(0, 7), 116);
  block.write(octal(size, 11), 124);
  block.write(octal(seconds, 11), 136);
  block.write(' '.repeat(8), 148);
  block.write('0', 156);
  block.write('ustar\x0000', 257);
  block.write('root', 265);
  block.write('root', 297);
  block.write(
    `${octal(
      block.reduce((sum, byte) => sum + byte),
      6,
    )} `,
    148,
  );
  return block;
}
