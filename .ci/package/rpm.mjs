import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { licenses, sharedFiles } from './files.mjs';

/** Writes `tool-VERSION-1.ARCHITECTURE.rpm` with rpmbuild. https://rpm-software-management.github.io/rpm/manual/spec.html */
export function makeRpm({ root, manifest, architecture, executable, file, seconds, node, level }) {
  const folder = mkdtempSync(join(tmpdir(), 'tool-rpm-'));
  try {
    const tree = join(folder, 'tree');
    const put = (path, content) => {
      mkdirSync(join(tree, dirname(path)), { recursive: true });
      writeFileSync(join(tree, path), content);
    };
    mkdirSync(join(tree, 'usr/bin'), { recursive: true });
    cpSync(executable, join(tree, 'usr/bin/tool'));
    for (const [path, content] of Object.entries(sharedFiles(root))) {
      if (path.includes('/man/')) put(`usr/${path}.gz`, gzipSync(content, { level: 9 }));
      else put(`usr/${path}`, content);
    }
    put('usr/share/licenses/tool/LICENSE', readFileSync(join(root, 'LICENSE')));
    put('usr/share/licenses/tool/THIRD-PARTY-LICENSES.txt', licenses(root, node));
    put('usr/share/doc/tool/CHANGELOG.md', readFileSync(join(root, 'CHANGELOG.md')));
    put('usr/share/doc/tool/tool.example.yml', readFileSync(join(root, 'tool.example.yml')));
    const spec = join(folder, 'tool.spec');
    writeFileSync(spec, specification({ manifest, tree }));
    execFileSync('rpmbuild', ['-bb', '--quiet', '--target', `${architecture}-linux`, ...defined(folder, level), spec], {
      env: { ...process.env, SOURCE_DATE_EPOCH: String(seconds), LC_ALL: 'C' },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    cpSync(join(folder, 'rpms', architecture, `tool-${manifest.version}-1.${architecture}.rpm`), file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Keeps the executable as it is, and the bytes the same wherever it is built. */
function defined(folder, level) {
  const macros = {
    _topdir: folder,
    _rpmdir: `${folder}/rpms`,
    _dbpath: `${folder}/database`,
    _binary_payload: `w${level}.xzdio`,
    _build_id_links: 'none',
    __os_install_post: '%{nil}',
    debug_package: '%{nil}',
    _buildhost: 'localhost',
    use_source_date_epoch_as_buildtime: '1',
    clamp_mtime_to_source_date_epoch: '1',
  };
  return Object.entries(macros).flatMap(([name, value]) => ['--define', `${name} ${value}`]);
}

function specification({ manifest: { version, description, license }, tree }) {
  return `Name: tool
Version: ${version}
Release: 1
Summary: Snapshots of PostgreSQL and MySQL databases
License: ${license}
AutoReqProv: no
Requires: glibc >= 2.28, libstdc++, libgcc
Recommends: postgresql

%description
${description}

%install
cp -a ${tree}/. %{buildroot}/

%files
%defattr(644, root, root, 755)
%attr(755, root, root) /usr/bin/tool
/usr/share/man/man1/tool.1.gz
/usr/share/bash-completion/completions/tool
/usr/share/zsh/site-functions/_tool
/usr/share/fish/vendor_completions.d/tool.fish
%license /usr/share/licenses/tool
%doc /usr/share/doc/tool
`;
}
