import type { ReadStream, WriteStream } from 'node:tty';

/** The properties of the standard streams; the only reader of isTTY, NO_COLOR, CI and columns. */
export interface Terminal {
  /** Whether screens can open: a terminal at both ends, and no CI. */
  interactive: boolean;
  /** Whether a question can be asked on standard error; standard output carries results. */
  canAsk: boolean;
  stdout: Output;
  stderr: Output;
  unicode: boolean;
  ci: boolean;
}

export interface Output {
  isTerminal: boolean;
  color: boolean;
  /** The current width in cells; `null` without a terminal. */
  columns: () => number | null;
}

export interface Streams {
  stdin: Pick<ReadStream, 'isTTY'>;
  stdout: Pick<WriteStream, 'isTTY' | 'columns'>;
  stderr: Pick<WriteStream, 'isTTY' | 'columns'>;
}

export function readTerminal({ stdin, stdout, stderr }: Streams, environment: NodeJS.ProcessEnv): Terminal {
  const ci = isTrue(environment.CI);
  const dumb = environment.TERM === 'dumb';
  return {
    interactive: Boolean(stdin.isTTY && stdout.isTTY) && !ci && !dumb,
    canAsk: Boolean(stdin.isTTY && stderr.isTTY),
    stdout: output(stdout, environment),
    stderr: output(stderr, environment),
    unicode: showsUnicode(environment),
    ci,
  };
}

export function isTrue(value: string | undefined): boolean {
  return /^(true|1|yes|on)$/i.test(value ?? '');
}

function output(stream: Streams['stdout'], environment: NodeJS.ProcessEnv): Output {
  const isTerminal = Boolean(stream.isTTY);
  return {
    isTerminal,
    color: showsColor(isTerminal, environment),
    // Some terminals first report a width of 0.
    columns: () => (isTerminal ? stream.columns || 80 : null),
  };
}

/** As Node decides: FORCE_COLOR, then NO_COLOR, then the terminal. */
function showsColor(isTerminal: boolean, environment: NodeJS.ProcessEnv): boolean {
  const { FORCE_COLOR, NO_COLOR, TERM } = environment;
  if (FORCE_COLOR !== undefined) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false';
  if (NO_COLOR) return false;
  return isTerminal && TERM !== 'dumb';
}

/** Containers rarely set a locale, so a missing one counts as UTF-8. */
function showsUnicode({ LC_ALL, LC_CTYPE, LANG, TERM }: NodeJS.ProcessEnv): boolean {
  if (TERM === 'linux' || TERM === 'dumb') return false;
  const locale = LC_ALL || LC_CTYPE || LANG;
  return !locale || /utf-?8/i.test(locale);
}

/**
 * Ink decides when it is loaded, by the environment alone, and would drop bold and reverse with the colours. So it has
 * styles in any case; the theme has the colours.
 */
export async function withStyles<Screens>(
  load: () => Promise<Screens>,
  { color, environment }: { color: boolean; environment: NodeJS.ProcessEnv },
): Promise<Screens> {
  const before = environment.FORCE_COLOR;
  if (!color) environment.FORCE_COLOR = '1';
  try {
    return await load();
  } finally {
    if (before === undefined) delete environment.FORCE_COLOR;
    else environment.FORCE_COLOR = before;
  }
}
