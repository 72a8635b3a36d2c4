import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { licenses, sharedFiles } from './files.mjs';
import { tarball } from './tar.mjs';

/** Writes `tool_VERSION_SYSTEM_ARCHITECTURE.tar.gz`: a folder with bin/ and share/, to copy to /usr/local or to run in place. */
export function makeArchive({ root, name, executable, file, seconds, node }) {
  const text = (path) => readFileSync(join(root, path));
  const files = {
    [executable.endsWith('.exe') ? 'bin/tool.exe' : 'bin/tool']: { content: readFileSync(executable), mode: 0o755 },
    ...Object.fromEntries(Object.entries(sharedFiles(root)).map(([path, content]) => [path, { content }])),
    'share/doc/tool/LICENSE': { content: text('LICENSE') },
    'share/doc/tool/README.md': { content: text('README.md') },
    'share/doc/tool/CHANGELOG.md': { content: text('CHANGELOG.md') },
    'share/doc/tool/THIRD-PARTY-LICENSES.txt': { content: licenses(root, node) },
    'share/doc/tool/tool.example.yml': { content: text('tool.example.yml') },
  };
  const entries = Object.entries(files).map(([path, entry]) => [`${name}/${path}`, entry]);
  writeFileSync(file, tarball(entries, seconds));
}
