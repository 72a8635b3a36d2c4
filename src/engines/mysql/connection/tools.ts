import { basename } from 'node:path';
import type { ToolReport } from '../../../results/configuration/configuration-results.ts';
import { UserError } from '../../../runtime/errors.ts';
import type { EngineContext } from '../../engine-context.ts';
import { toolFinder } from '../../shared/find-tools.ts';
import { type Flavour, LABELS, type Server, serverOf } from '../catalog/introspect.ts';

/** A program of the vendor: for `program: true`, and for a person. */
export interface ClientTool {
  name: string;
  path: string;
  flavour: Flavour;
  version: string;
}

const NAMES = ['mysql', 'mariadb'];
const DUMP_NAMES = ['mysqldump', 'mariadb-dump'];

/** Outside the PATH: Homebrew on both architectures, MySQL's package on macOS. */
const USUAL_PLACES = [
  '/usr/bin',
  '/usr/local/bin',
  '/opt/homebrew/bin',
  '/opt/homebrew/opt/mysql-client/bin',
  '/usr/local/opt/mysql-client/bin',
  '/usr/local/mysql/bin',
];

const whichCommand = (names: string[]): string => `
places=$PATH IFS=:
for directory in $places ${USUAL_PLACES.join(' ')}; do
  for name in ${names.join(' ')}; do
    [ -f "$directory/$name" ] && [ -x "$directory/$name" ] || continue
    printf '%s\t%s\n' "$directory/$name" "$("$directory/$name" --version 2>/dev/null)"
  done
done`;

const INSTALL_HINT =
  'Install it: apt-get install mariadb-client (Debian, Ubuntu), brew install mysql-client (macOS), or https://dev.mysql.com/downloads/. Or set docker.images.mysql: it then runs in a container.';

export async function reportTools(context: EngineContext): Promise<ToolReport[]> {
  const tools = await findClientTools(context);
  const dumps = await findDumpTools(context);
  return [...tools, ...dumps].map(({ name, path, version }) => ({ name, path, version }));
}

/** A program with two names is listed once. */
const findClientTools = toolFinder(whichCommand(NAMES), readTools);
const findDumpTools = toolFinder(whichCommand(DUMP_NAMES), readTools);

function readTools(lines: string[]): ClientTool[] {
  const tools = lines.flatMap((line) => {
    const [path = '', answer = ''] = line.split('\t');
    return readToolVersion(answer, { name: basename(path), path }) ?? [];
  });
  return tools.filter(
    (tool, index) =>
      tools.findIndex(({ flavour, version }) => flavour === tool.flavour && version === tool.version) === index,
  );
}

/**
 * From the version text, never the name: `mysql Ver 15.1 Distrib 10.11.6-MariaDB, for …`, `mariadb from
 * 11.4.2-MariaDB, client 15.2 …`, `mysql Ver 9.1.0 for …`.
 */
export function readToolVersion(answer: string, tool: { name: string; path: string }): ClientTool | null {
  const version = /(?:Distrib|from) (\d[\w.-]*)/.exec(answer)?.[1] ?? /Ver (\d[\w.-]*)/.exec(answer)?.[1];
  if (version === undefined) return null;
  const { flavour } = serverOf(answer);
  return { ...tool, flavour, version: serverOf(version).version };
}

/** For a person; MySQL's own if installed. */
export async function anyClient(context: EngineContext): Promise<ClientTool> {
  const tools = await findClientTools(context);
  const tool = tools.find(({ flavour }) => flavour === 'mysql') ?? tools[0];
  if (tool) return tool;
  throw new UserError('tools_missing', 'No client program (mysql or mariadb) was found', { hint: INSTALL_HINT });
}

/**
 * Returns the dump program of the server's flavour with the closest version that is not older; throws when there is
 * none.
 */
export async function dumpToolFor(context: EngineContext, server: Server): Promise<ClientTool> {
  const tools = await findDumpTools(context);
  const [tool] = tools
    .filter(({ flavour, version }) => flavour === server.flavour && compareSeries(version, server.version) >= 0)
    .sort((a, b) => compareSeries(a.version, b.version));
  if (tool) return tool;
  const name = server.flavour === 'mysql' ? 'mysqldump' : 'mariadb-dump';
  const place = context.runner.id === 'docker' ? 'the image of docker.images.mysql' : 'this machine';
  // `openDatabase` retries in a container.
  throw new UserError(
    'tools_too_old',
    `${server.label} needs its own ${name}, of its version or newer, and ${place} has none`,
    {
      details: tools.map(({ path, flavour, version }) => `${path} is of ${LABELS[flavour]} ${version}`),
      hint: `Nothing was changed. Install the client programs of ${server.label}, or set docker.images.mysql to ${EXAMPLES[server.flavour]}.`,
    },
  );
}

const EXAMPLES: Record<Flavour, string> = { mysql: 'mysql:8.4', mariadb: 'mariadb:11' };

/** By major and minor version: `10.11`. */
export function compareSeries(a: string, b: string): number {
  const [first = [], second = []] = [a, b].map((text) => text.split('.').map(Number));
  return (first[0] ?? 0) - (second[0] ?? 0) || (first[1] ?? 0) - (second[1] ?? 0);
}
