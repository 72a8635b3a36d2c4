import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openTerminal } from '../../test/e2e/terminal.ts';

/** Making the sample takes some ten seconds, more where the machine is busy. */
export const PATIENCE = 90_000;
const BEGIN = '2026-11-18T18:15:00Z';
const CLOCK = pathToFileURL(join(import.meta.dirname, 'clock.mjs')).href;

/** The server of `tool demo`, and folders with configurations for it; `close` leaves nothing of either. */
export async function openWorld({ root, home, hub }) {
  const program = join(root, 'dist', 'tool.js');
  const clock = join(home, 'clock');
  const terminals = [];
  const open = ({ words = [], command, cwd = home, columns = 80, rows = 24, environment = {} }) => {
    const terminal = openTerminal({
      command: command ?? [process.execPath, program, ...words],
      columns,
      rows,
      cwd,
      environment: {
        HOME: home,
        TMPDIR: home,
        XDG_CACHE_HOME: join(home, 'cache'),
        XDG_CONFIG_HOME: join(home, 'config'),
        XDG_STATE_HOME: join(home, 'state'),
        TZ: 'UTC',
        TOOL_TRUST: 'true',
        NODE_OPTIONS: `--import=${CLOCK}`,
        PICTURES_CLOCK: clock,
        ...environment,
      },
    });
    terminals.push(terminal);
    return terminal;
  };
  const setClock = (instant) => writeFileSync(clock, instant);
  setClock(BEGIN);
  const demo = open({ words: ['demo'], environment: { TOOL_TRUST: '' } });
  await demo.waitFor((screen) => screen.includes('✗ unreachable') && screen.split('✓ up').length === 3, PATIENCE);
  const [configuration] = globSync(join(home, 'tool-demo-*', 'tool.yml'));
  const [, server] = /src_url: (\w+:\/\/[^/]+)/.exec(readFileSync(configuration, 'utf8'));

  const filled = (text) =>
    text.replaceAll('{server}', server).replaceAll('{hub}', hub.url).replaceAll('{token}', hub.ownerToken);

  return {
    root,
    program,
    open,
    setClock,
    server,
    /** A folder of the user with this configuration, in which `{server}` is the server of the demo, `{hub}` a hub. */
    folder(name, files) {
      const folder = join(home, name);
      mkdirSync(folder, { recursive: true });
      for (const [file, content] of Object.entries(files)) {
        writeFileSync(join(folder, file), filled(content), { mode: 0o600 });
      }
      return folder;
    },
    async close() {
      for (const terminal of terminals.toReversed()) {
        // The demo takes its server down by itself.
        terminal.signal('SIGTERM');
        await terminal.exited();
        terminal.close();
      }
    },
  };
}
