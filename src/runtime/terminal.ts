import type { ReadStream, WriteStream } from 'node:tty';

/** What the program may do with the streams that it was given; the only reader of isTTY, NO_COLOR, CI and columns. */
export interface Terminal {
  /** Whether screens can be opened: a person is at both ends, and nothing like CI says otherwise. */
  interactive: boolean;
  /** Whether a question can be asked and read: on standard error, since standard output carries results. */
  canAsk: boolean;
  stdout: Output;
  stderr: Output;
  /** Whether marks beyond ASCII will be shown as they are. */
  unicode: boolean;
  /** `CI=true` in the environment. */
  ci: boolean;
}

export interface Output {
  isTerminal: boolean;
  color: boolean;
  /** The width now, in cells; `null` when there is no terminal, and so no limit. */
  columns: () => number | null;
}

export interface Streams {
  stdin: Pick<ReadStream, 'isTTY'>;
  stdout: Pick<WriteStream, 'isTTY' | 'columns'>;
  stderr: Pick<WriteStream, 'isTTY' | 'columns'>;
}

/** Reads the terminal's nature from the streams and the environment. */
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

/** Whether a boolean-like variable such as CI or TOOL_NO_CONFIRM is switched on. */
export function isTrue(value: string | undefined): boolean {
  return /^(true|1|yes|on)$/i.test(value ?? '');
}

function output(stream: Streams['stdout'], environment: NodeJS.ProcessEnv): Output {
  const isTerminal = Boolean(stream.isTTY);
  return {
    isTerminal,
    color: showsColor(isTerminal, environment),
    // Some terminals report a width of 0 before they know it.
    columns: () => (isTerminal ? stream.columns || 80 : null),
  };
}

/** As Node itself decides: FORCE_COLOR first, then NO_COLOR, then the terminal. */
function showsColor(isTerminal: boolean, environment: NodeJS.ProcessEnv): boolean {
  const { FORCE_COLOR, NO_COLOR, TERM } = environment;
  if (FORCE_COLOR !== undefined) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false';
  if (NO_COLOR) return false;
  return isTerminal && TERM !== 'dumb';
}

/** No locale at all is taken for a modern terminal: containers rarely set one. */
function showsUnicode({ LC_ALL, LC_CTYPE, LANG, TERM }: NodeJS.ProcessEnv): boolean {
  if (TERM === 'linux' || TERM === 'dumb') return false;
  const locale = LC_ALL || LC_CTYPE || LANG;
  return !locale || /utf-?8/i.test(locale);
}
