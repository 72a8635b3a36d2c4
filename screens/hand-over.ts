import { EXIT, UserError } from '../src/errors.ts';

/** Gives the terminal away for a while: the application, once it is drawn, knows how. */
export interface HandOver {
  /** Called by the application. */
  bind(suspend: (work: () => Promise<void>) => Promise<void>): void;
  /** Opens a file in the user's editor; resolves when it is closed and the screen is there again. */
  edit(file: string): Promise<void>;
}

export function createHandOver(environment: NodeJS.ProcessEnv): HandOver {
  let suspend = (work: () => Promise<void>): Promise<void> => work();
  return {
    bind(given) {
      suspend = given;
    },
    async edit(file) {
      const editor = environment.VISUAL || environment.EDITOR || 'vi';
      let failed: UserError | null = null;
      await suspend(async () => {
        failed = await runEditor(editor, file, environment);
      });
      if (failed) throw failed;
    },
  };
}

/** As git does: the variable may hold words of its own, `code --wait`. */
async function runEditor(editor: string, file: string, environment: NodeJS.ProcessEnv): Promise<UserError | null> {
  const { spawn } = await import('node:child_process');
  return new Promise((resolve) => {
    const child = spawn('sh', ['-c', `${editor} "$@"`, editor, file], { stdio: 'inherit', env: environment });
    child.once('error', (cause) => resolve(notOpened(editor, cause)));
    child.once('exit', (code) => resolve(code === 0 ? null : notOpened(editor)));
  });
}

function notOpened(editor: string, cause?: Error): UserError {
  return new UserError(`The editor "${editor}" failed`, {
    code: 'editor_failed',
    exit: EXIT.failed,
    hint: 'Set VISUAL or EDITOR to the editor that you use.',
    cause,
  });
}
