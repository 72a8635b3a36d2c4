import { createHash } from 'node:crypto';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { ASSETS, sharedFiles } from './files.mjs';
import { published } from './npm.mjs';
import { releasesUrl } from './release.mjs';
import { entries } from './tar.mjs';

/**
 * Writes `tool-VERSION-r0.apk`, unsigned: the bundle, for Alpine's own Node, which is the only one for musl.
 * https://wiki.alpinelinux.org/wiki/Apk_spec
 */
export function makeAlpinePackage({ root, manifest, file, seconds }) {
  const files = new Map();
  const put = (path, content, mode = 0o644) => {
    const bytes = Buffer.from(content);
    files.set(path, { content: bytes, mode, ...checksum(bytes) });
  };
  for (const path of [...globSync('dist/*.{js,txt}', { cwd: root }), ...ASSETS, 'tool.example.yml', 'LICENSE']) {
    put(`usr/lib/tool/${path}`, readFileSync(join(root, path)), path === 'dist/tool.js' ? 0o755 : 0o644);
  }
  put('usr/lib/tool/package.json', `${JSON.stringify(published(manifest), null, 2)}\n`);
  for (const [path, content] of Object.entries(sharedFiles(root))) {
    if (path.includes('/man/')) put(`usr/${path}.gz`, gzipSync(content, { level: 9 }));
    else put(`usr/${path}`, content);
  }
  const linkpath = '../lib/tool/dist/tool.js';
  files.set('usr/bin/tool', { type: 'SymbolicLink', mode: 0o777, linkpath, ...checksum(linkpath) });
  const size = [...files.values()].reduce((sum, { content = '' }) => sum + content.length, 0);
  for (const path of [...files.keys()]) {
    for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) {
      files.set(`${folder}/`, { type: 'Directory', mode: 0o755 });
    }
  }
  const data = gzipSync(Buffer.concat([entries(files, seconds), Buffer.alloc(1024)]), { level: 9 });
  const content = information({ manifest, seconds, size, data });
  writeFileSync(file, Buffer.concat([gzipSync(entries([['.PKGINFO', { content }]], seconds), { level: 9 }), data]));
}

function checksum(bytes) {
  return { attribute: `APK-TOOLS.checksum.SHA1=${createHash('sha1').update(bytes).digest('hex')}` };
}

function information({ manifest: { version, license, engines }, seconds, size, data }) {
  return `pkgname = tool
pkgver = ${version}-r0
pkgdesc = Snapshots of PostgreSQL and MySQL databases
url = ${releasesUrl().replace(/\/releases$/, '')}
builddate = ${seconds}
size = ${size}
arch = noarch
origin = tool
license = ${license}
depend = nodejs${engines.node}
datahash = ${createHash('sha256').update(data).digest('hex')}
`;
}
