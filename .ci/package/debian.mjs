import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  globSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { licenses, sharedFiles } from './files.mjs';

/** Writes `tool_VERSION_ARCHITECTURE.deb`. https://www.debian.org/doc/debian-policy/ */
export function makeDebianPackage({ root, manifest, architecture, executable, file, seconds, node, level }) {
  const folder = mkdtempSync(join(tmpdir(), 'tool-debian-'));
  try {
    const put = (path, content, mode = 0o644) => {
      mkdirSync(join(folder, dirname(path)), { recursive: true });
      writeFileSync(join(folder, path), content, { mode });
    };
    mkdirSync(join(folder, 'usr/bin'), { recursive: true });
    copyFileSync(executable, join(folder, 'usr/bin/tool'));
    for (const [path, content] of Object.entries(sharedFiles(root))) {
      // Debian's policy for zsh: site-functions are those of the administrator.
      const place = path.replace('site-functions', 'vendor-completions');
      if (path.includes('/man/')) put(`usr/${place}.gz`, gzipSync(content, { level: 9 }));
      else put(`usr/${place}`, content);
    }
    const documentation = 'usr/share/doc/tool';
    put(`${documentation}/copyright`, copyright(root));
    put(`${documentation}/third-party.gz`, gzipSync(licenses(root, node), { level: 9 }));
    put(`${documentation}/changelog.gz`, gzipSync(changelog(manifest, seconds), { level: 9 }));
    put(`${documentation}/NEWS.gz`, gzipSync(readFileSync(join(root, 'CHANGELOG.md')), { level: 9 }));
    put(`${documentation}/examples/tool.example.yml`, readFileSync(join(root, 'tool.example.yml')));
    put('usr/share/lintian/overrides/tool', OVERRIDES);
    const sums = filesIn(folder).map((path) => `${md5(join(folder, path))}  ${path}\n`);
    const kilobytes = filesIn(folder).reduce(
      (sum, path) => sum + Math.ceil(lstatSync(join(folder, path)).size / 1024),
      0,
    );
    put('DEBIAN/md5sums', sums.join(''));
    put('DEBIAN/control', control({ manifest, architecture, kilobytes }));
    for (const path of globSync('**', { cwd: folder })) utimesSync(join(folder, path), seconds, seconds);
    execFileSync('dpkg-deb', ['--root-owner-group', '-Zxz', `-z${level}`, '--build', folder, file], {
      env: { ...process.env, SOURCE_DATE_EPOCH: String(seconds) },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function control({ manifest: { version, description }, architecture, kilobytes }) {
  return `Package: tool
Version: ${version}
Architecture: ${architecture}
Maintainer: ${MAINTAINER}
Installed-Size: ${kilobytes}
Depends: ${DEPENDS.join(', ')}
Recommends: postgresql-client, default-mysql-client | mariadb-client
Suggests: postgresql, libsecret-1-0
Section: database
Priority: optional
Description: snapshots of PostgreSQL and MySQL databases
${wrapped(description)}
 .
 The client programs of the database do the work; the server programs of
 PostgreSQL are needed for the demonstration and for some sanitizations.
`;
}

/** What Node's executable is linked with; a test compares it with dpkg-shlibdeps. */
export const DEPENDS = ['libc6 (>= 2.28)', 'libgcc-s1 (>= 3.4)', 'libstdc++6 (>= 10.2)'];

const MAINTAINER = `${process.env.DEBFULLNAME ?? 'Developers of tool'} <${process.env.DEBEMAIL ?? 'tool@debian.invalid'}>`;

/** Node's own build: with its libraries inside, and without a position-independent executable. */
const OVERRIDES = `tool: embedded-library *
tool: hardening-no-pie [usr/bin/tool]
`;

function changelog({ version }, seconds) {
  const date = new Date(seconds * 1000).toUTCString().replace('GMT', '+0000');
  return `tool (${version}) unstable; urgency=medium\n\n  * See NEWS.gz.\n\n -- ${MAINTAINER}  ${date}\n`;
}

function copyright(root) {
  const license = readFileSync(join(root, 'LICENSE'), 'utf8');
  return `${license}
The licenses of Node.js and of the packages in /usr/bin/tool are in
/usr/share/doc/tool/third-party.gz. The text of the Apache License 2.0 is in
/usr/share/common-licenses/Apache-2.0.
`;
}

/** Lines of at most 80 characters, each after a blank. */
function wrapped(text) {
  return text.replaceAll(/(.{1,78})(?: |$)/g, ' $1\n').trimEnd();
}

function filesIn(folder) {
  return globSync('usr/**', { cwd: folder })
    .filter((path) => lstatSync(join(folder, path)).isFile())
    .sort();
}

function md5(path) {
  return execFileSync('md5sum', [path], { encoding: 'utf8' }).slice(0, 32);
}
