import { testContext } from '../postgres/postgres-server.ts';

export interface RunningProcess {
  user: string;
  /** The command line. */
  words: string;
}

/** The processes of this machine whose command line holds the text. */
export async function processesNaming(text: string): Promise<RunningProcess[]> {
  const { runner } = testContext({ settings: {} });
  const { stdout } = await runner.run({ file: 'ps', args: ['-eo', 'user:32,args', '-ww'] });
  const lines = stdout.split('\n').filter((line) => line.includes(text));
  return lines.map((line) => {
    const [user = '', ...words] = line.split(/\s+/);
    return { user, words: words.join(' ') };
  });
}
