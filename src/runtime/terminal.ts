import type { ReadStream, WriteStream } from 'node:tty';

/** The properties of the standard streams; the only reader of isTTY, NO_COLOR, CI and columns. */
export interface Terminal {
  /** Why screens cannot open; `null` where they can. */
  noScreens: string | null;
  /** A question can be asked on standard error; standard output carries results. */
  canAsk: boolean;
  stdout: Output;
  stderr: Output;
  /** Colours of standard output. */
  colors: Colors;
  unicode: boolean;
  ci: boolean;
}

/** Number of colours; terminals with more show the same 256. */
export type Colors = 0 | 16 | 256;

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
  const shown = output(stdout, environment);
  return {
    noScreens: obstacleToScreens({ stdin, stdout }, environment),
    canAsk: Boolean(stdin.isTTY && stderr.isTTY),
    stdout: shown,
    stderr: output(stderr, environment),
    colors: shown.color ? colorsOf(environment) : 0,
    unicode: showsUnicode(environment),
    ci: isTrue(environment.CI),
  };
}

function obstacleToScreens({ stdin, stdout }: Omit<Streams, 'stderr'>, { CI, TERM }: NodeJS.ProcessEnv): string | null {
  if (!stdin.isTTY) return 'standard input is not a terminal';
  if (!stdout.isTTY) return 'standard output is not a terminal';
  if (isTrue(CI)) return `CI=${CI} is set`;
  return TERM === 'dumb' ? 'TERM=dumb has no cursor movement' : null;
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

/** Decides like Node: FORCE_COLOR, then NO_COLOR, then the terminal. */
function showsColor(isTerminal: boolean, environment: NodeJS.ProcessEnv): boolean {
  const { FORCE_COLOR, NO_COLOR, TERM } = environment;
  if (FORCE_COLOR !== undefined) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false';
  if (NO_COLOR) return false;
  return isTerminal && TERM !== 'dumb';
}

/** FORCE_COLOR states a level; else COLORTERM and TERM tell. */
function colorsOf({ FORCE_COLOR, COLORTERM = '', TERM = '' }: NodeJS.ProcessEnv): Colors {
  if (FORCE_COLOR) return FORCE_COLOR === '2' || FORCE_COLOR === '3' ? 256 : 16;
  return /truecolor|24bit|256/i.test(COLORTERM) || WITH_256_COLORS.test(TERM) ? 256 : 16;
}

/** Some terminals have a name of their own without a number of colours. */
const WITH_256_COLORS = /256|direct|truecolor|kitty|ghostty|alacritty|wezterm|foot|iterm|contour|rio/i;

/** Containers rarely set a locale, so a missing one counts as UTF-8. */
function showsUnicode({ LC_ALL, LC_CTYPE, LANG, TERM }: NodeJS.ProcessEnv): boolean {
  if (TERM === 'linux' || TERM === 'dumb') return false;
  const locale = LC_ALL || LC_CTYPE || LANG;
  return !locale || /utf-?8/i.test(locale);
}

/**
 * Ink decides when it is loaded, by the environment alone: it would drop bold and reverse with the colours, and knows
 * fewer terminals. So it has styles in any case, and as many colours as the theme.
 */
export async function withStyles<Screens>(
  load: () => Promise<Screens>,
  { colors, environment }: { colors: Colors; environment: NodeJS.ProcessEnv },
): Promise<Screens> {
  const { FORCE_COLOR, NO_COLOR } = environment;
  environment.FORCE_COLOR = colors === 256 ? '2' : '1';
  // Node warns where both are set.
  delete environment.NO_COLOR;
  try {
    return await load();
  } finally {
    delete environment.FORCE_COLOR;
    Object.assign(environment, FORCE_COLOR !== undefined && { FORCE_COLOR }, NO_COLOR !== undefined && { NO_COLOR });
  }
}
