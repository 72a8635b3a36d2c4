import { gzipSync } from 'node:zlib';
import { Header } from 'tar';

/** An archive of files, the same bytes for the same input. */
export function tarball(files, seconds) {
  const owner = { uid: 0, gid: 0, uname: 'root', gname: 'root' };
  const parts = [...files]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([path, { content, mode = 0o644 }]) => {
      const bytes = Buffer.from(content);
      const mtime = new Date(seconds * 1000);
      const header = new Header({ path, mode, size: bytes.length, mtime, type: 'File', ...owner });
      if (header.encode()) throw new Error(`Too long for the header of a tar archive: ${path}`);
      return [header.block, bytes, Buffer.alloc(-bytes.length & 511)];
    });
  return gzipSync(Buffer.concat([...parts, Buffer.alloc(1024)]), { level: 9 });
}
