import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { EXIT, UserError } from '../../errors.ts';
import type { Runner } from '../../process/runner.ts';
import type { EngineContext, ToolReport } from '../engine.ts';
import { type Flavour, serverOf } from './catalogue.ts';

/** The client program: it runs SQL files, whose grammar (`DELIMITER`, `\.`) is its own and not the server's. */
export interface ClientTool {
  name: string;
  path: string;
  flavour: Flavour;
  version: string;
}

/** Names of the client; what is called `mysql` may be either flavour's. */
const NAMES = ['mysql', 'mariadb'];

/** Where installations put it that are not on the PATH: Homebrew on both chips, MySQL's own package on macOS. */
const USUAL_PLACES = [
  '/usr/bin',
  '/usr/local/bin',
  '/opt/homebrew/bin',
  '/opt/homebrew/opt/mysql-client/bin',
  '/usr/local/opt/mysql-client/bin',
  '/usr/local/mysql/bin',
];

const INSTALL_HINT =
  'Install it: apt-get install mariadb-client (Debian, Ubuntu), brew install mysql-client (macOS), or https://dev.mysql.com/downloads/';

/** What a runner finds does not change while it lives, and one operation asks often. */
const found = new WeakMap<Runner, Promise<ClientTool[]>>();

/** Every client program on this machine; one that has two names is told once. */
function findClientTools(context: EngineContext): Promise<ClientTool[]> {
  const known = found.get(context.runner) ?? lookForTools(context);
  found.set(context.runner, known);
  return known;
}

async function lookForTools({ runner, environment }: EngineContext): Promise<ClientTool[]> {
  const onPath = (environment.PATH ?? '').split(delimiter).filter((directory) => directory !== '');
  const directories = [...new Set([...onPath, ...USUAL_PLACES])];
  const candidates = directories.flatMap((directory) => NAMES.map((name) => ({ name, path: join(directory, name) })));
  const looked = await Promise.all(candidates.map((candidate) => inspect(runner, candidate)));
  const tools = looked.filter((tool) => tool !== null);
  return tools.filter(
    (tool, index) =>
      tools.findIndex(({ flavour, version }) => flavour === tool.flavour && version === tool.version) === index,
  );
}

async function inspect(runner: Runner, { name, path }: { name: string; path: string }): Promise<ClientTool | null> {
  const executable = await access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!executable) return null;
  const answer = await runner.run({ file: path, args: ['--version'] }).catch(() => null);
  return answer?.exitCode === 0 ? readVersion(answer.stdout, { name, path }) : null;
}

/**
 * `mysql  Ver 15.1 Distrib 10.11.6-MariaDB, for …`, `mariadb from 11.4.2-MariaDB, client 15.2 …`, `mysql  Ver 9.1.0 for …`:
 * the flavour is in what it says of itself, never in its name.
 */
export function readVersion(answer: string, tool: { name: string; path: string }): ClientTool | null {
  const version = /(?:Distrib|from) (\d[\w.-]*)/.exec(answer)?.[1] ?? /Ver (\d[\w.-]*)/.exec(answer)?.[1];
  if (version === undefined) return null;
  const { flavour } = serverOf(answer);
  return { ...tool, flavour, version: serverOf(version).version };
}

/** The server's own flavour where it is there; the other reads most files as well. */
export async function clientFor(context: EngineContext, flavour: Flavour): Promise<ClientTool> {
  const tools = await findClientTools(context);
  const tool = tools.find((one) => one.flavour === flavour) ?? tools[0];
  if (tool) return tool;
  throw new UserError('No client program (mysql or mariadb) was found, which runs SQL files', {
    code: 'tools_missing',
    exit: EXIT.failed,
    hint: INSTALL_HINT,
  });
}

/** What `config check` shows. */
export async function reportTools(context: EngineContext): Promise<ToolReport[]> {
  const tools = await findClientTools(context);
  return tools.map(({ name, path, version }) => ({ name, path, version }));
}
