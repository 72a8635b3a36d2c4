import { openCommandContext } from './cli/open-context.ts';
import { run } from './cli/run.ts';
import { abortOnSignals } from './cli/signals.ts';
import { EXIT } from './runtime/errors.ts';
import { keepHeapSmall } from './runtime/keep-heap-small.ts';
import { permitLateAwaits } from './runtime/late-awaits.ts';
import { readVersion } from './runtime/package-files.ts';
import { readTerminal, withStyles } from './runtime/terminal.ts';

const { stdin, stdout, stderr, env } = process;
const clock = () => new Date();

/** The other side has gone: `tool targets | head`, or a terminal that was closed. */
const GONE = new Set(['EPIPE', 'EIO']);
let isOutputIncomplete = false;

for (const stream of [stdout, stderr]) {
  stream.on('error', ({ code = '', message }: NodeJS.ErrnoException) => {
    if (GONE.has(code) || isOutputIncomplete) return;
    isOutputIncomplete = true;
    process.exitCode ||= EXIT.failed;
    if (stream === stdout) stderr.write(`error: Cannot write the output: ${message}\n`);
  });
}

const terminal = readTerminal(process, env);

const exitCode = await run({
  words: process.argv.slice(2),
  async loadGrammar() {
    const { COMMANDS, FAMILIES, GLOBAL_OPTIONS } = await import('./commands/registry.ts');
    return { commands: COMMANDS, families: FAMILIES, globalOptions: GLOBAL_OPTIONS, version: readVersion() };
  },
  terminal,
  stdin,
  stdout,
  stderr,
  environment: env,
  cwd: process.cwd(),
  signal: abortOnSignals({ source: process, clock, exitNow: (code) => process.exit(code) }),
  clock,
  failedUnawaited: permitLateAwaits(process),
  openContext: openCommandContext,
  async openScreens(options) {
    // Node writes its warnings into the frames.
    process.removeAllListeners('warning');
    const { colors } = terminal;
    const { start } = await withStyles(() => import('../screens/start.tsx'), { colors, environment: env });
    const { config, environment, cwd, debug } = options;
    const left = start({
      ...options,
      stdin,
      stdout,
      unicode: terminal.unicode,
      colors,
      version: readVersion(),
      clock,
      createContext: (session) => openCommandContext({ config, environment, cwd, clock, debug, ...session }),
    });
    // The first frame is drawn; for it, a growing heap is faster.
    keepHeapSmall();
    return left;
  },
});
process.exitCode = exitCode === EXIT.done && isOutputIncomplete ? EXIT.failed : exitCode;
