import { gzipSync } from 'node:zlib';
import { Header } from 'tar';

/** An archive of files, the same bytes for the same input. */
export function tarball(files, seconds) {
  return gzipSync(Buffer.concat([entries(files, seconds), Buffer.alloc(1024)]), { level: 9 });
}

/** The entries, without the blocks at the end of an archive. `attribute` is a record of pax for the entry. */
export function entries(files, seconds) {
  const parts = [...files]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([path, { content = '', mode = 0o644, type = 'File', linkpath, attribute }]) => [
      ...(attribute ? entry({ path: 'pax', mode: 0o644, type: 'ExtendedHeader', content: record(attribute) }) : []),
      ...entry({ path, mode, type, linkpath, content }),
    ]);
  return Buffer.concat(parts);

  function entry({ content, ...fields }) {
    const bytes = Buffer.from(content);
    const owner = { uid: 0, gid: 0, uname: 'root', gname: 'root' };
    const header = new Header({ size: bytes.length, mtime: new Date(seconds * 1000), ...fields, ...owner });
    if (header.encode()) throw new Error(`Too long for the header of a tar archive: ${fields.path}`);
    return [header.block, bytes, Buffer.alloc(-bytes.length & 511)];
  }
}

/** The length counts its own digits. */
function record(attribute) {
  const rest = ` ${attribute}\n`;
  const length = rest.length + String(rest.length + 2).length;
  return `${length}${rest}`;
}
