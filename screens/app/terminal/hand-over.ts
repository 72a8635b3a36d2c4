import { basename } from 'node:path';
import { keyText } from '../../../src/config/keys/keys-in-effect.ts';
import { UserError } from '../../../src/runtime/errors.ts';
import type { RunnableProgram } from '../runnable-program.ts';

/** Gives the terminal to another program; the application, once drawn, binds how. */
export interface HandOver {
  bind(suspend: (work: () => Promise<void>) => Promise<void>): void;
  /** Opens a file in the user's editor, at a line where supported; resolves when the editor is closed. */
  edit(file: string, line?: number): Promise<void>;
  /** Resolves with the exit code, `null` after a signal. */
  run(program: RunnableProgram): Promise<number | null>;
}

export function createHandOver(environment: NodeJS.ProcessEnv): HandOver {
  let suspend = (work: () => Promise<void>): Promise<void> => work();
  return {
    bind(given) {
      suspend = given;
    },
    async edit(file, line) {
      // The shell would run the file itself after blanks or a line feed.
      const editor = environment.VISUAL?.trim() || environment.EDITOR?.trim() || 'vi';
      let failed: UserError | null = null;
      await suspend(async () => {
        failed = await runEditor(editor, placeIn(editor, file, line), environment);
      });
      if (failed) throw failed;
    },
    async run(program) {
      let code: number | null = null;
      await suspend(async () => {
        code = await runProgram(program, environment);
      });
      return code;
    },
  };
}

/** Arguments for opening a file at a line; other editors open it at the beginning. */
const LINES: { editors: string[]; words: (file: string, line: number) => string[] }[] = [
  {
    editors: ['vi', 'vim', 'nvim', 'view', 'nano', 'pico', 'emacs', 'emacsclient', 'micro', 'kak', 'joe', 'mg', 'ne'],
    words: (file, line) => [`+${line}`, file],
  },
  { editors: ['code', 'codium', 'cursor'], words: (file, line) => ['--goto', `${file}:${line}`] },
  { editors: ['hx', 'helix', 'subl', 'zed'], words: (file, line) => [`${file}:${line}`] },
];

function placeIn(editor: string, file: string, line: number | undefined): string[] {
  const [program = ''] = editor.trim().split(/\s+/);
  const known = LINES.find(({ editors }) => editors.includes(basename(program)));
  return line === undefined || !known ? [file] : known.words(file, line);
}

/** Runs the editor in a shell, like git: the variable may contain arguments, `code --wait`. */
async function runEditor(editor: string, place: string[], environment: NodeJS.ProcessEnv): Promise<UserError | null> {
  const { spawn } = await import('node:child_process');
  return new Promise((resolve) => {
    const child = spawn('sh', ['-c', `${editor} "$@"`, editor, ...place], { stdio: 'inherit', env: environment });
    child.once('error', (cause) => resolve(notOpened(editor, cause)));
    child.once('exit', (code) => resolve(code === 0 ? null : notOpened(editor)));
  });
}

/** Ctrl-C belongs to the program: it cancels a statement there, and ends nothing here. */
async function runProgram(
  { file, args, env }: RunnableProgram,
  environment: NodeJS.ProcessEnv,
): Promise<number | null> {
  const { spawn } = await import('node:child_process');
  const listeners = process.listeners('SIGINT');
  const ignore = (): void => {};
  process.on('SIGINT', ignore);
  for (const listener of listeners) process.off('SIGINT', listener);
  try {
    const child = spawn(file, args, { stdio: 'inherit', env: { ...environment, ...env } });
    return await new Promise((resolve, reject) => {
      child.once('error', (cause) => reject(notStarted(file, cause)));
      child.once('exit', (code) => resolve(code));
    });
  } finally {
    for (const listener of listeners) process.on('SIGINT', listener);
    process.off('SIGINT', ignore);
  }
}

function notStarted(file: string, cause: Error): UserError {
  return new UserError('client_unavailable', `${file} could not be started: ${cause.message}`, {
    hint: `Press ${keyText('copy')} to copy the URL for another program.`,
    cause,
  });
}

function notOpened(editor: string, cause?: Error): UserError {
  return new UserError('editor_failed', `The editor "${editor}" failed`, {
    hint: 'Set VISUAL or EDITOR to the editor that you use.',
    cause,
  });
}
