import { importDbsnapper } from '../../config/import/import-dbsnapper.ts';
import { initConfiguration } from '../../config/init/init.ts';
import { inspectConfiguration } from '../../config/load.ts';
import { absolutePath } from '../../config/paths.ts';
import { invalidConfiguration } from '../../config/problems/invalid-configuration.ts';
import type { ImportReport, Problem } from '../../results/configuration/configuration-results.ts';
import { UserError } from '../../runtime/errors.ts';

interface ImportRequest {
  /** The configuration of DBSnapper. */
  from: string;
  /** The file to write; default: the user's. */
  file: string | undefined;
  force: boolean;
  environment: NodeJS.ProcessEnv;
  cwd: string;
}

const [FORMER, PREFIX] = ['DBSNAPPER_', 'TOOL_'];

/** Writes a configuration of DBSnapper as one of this program. The file that is read is not changed. */
export async function importConfiguration({
  from,
  file,
  force,
  environment,
  cwd,
}: ImportRequest): Promise<ImportReport> {
  const source = absolutePath(from, { from: cwd, environment });
  const others = withoutOwn(environment);
  const { text, values, problems } = await inspectConfiguration({ file: source, environment: others, cwd });
  if (values === null) throw unreadable(source, problems);
  const { text: imported, ...changes } = await importDbsnapper({ file: source, text, environment: others, cwd });
  const { secret_key_in, keychain_error, ...written } = await initConfiguration({
    file,
    force,
    content: { text: imported },
    environment,
    cwd,
  });
  const after = await inspectConfiguration({ file: written.file, environment, cwd });
  return { from: source, ...written, ...changes, variables: variablesIn(environment), problems: after.problems };
}

/** Variables of this program do not belong to the other one's file; its secret_key may be in a variable. */
function withoutOwn(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const others = Object.entries(environment).filter(([name]) => !name.startsWith(PREFIX));
  const secretKey = environment[`${FORMER}SECRET_KEY`];
  return { ...Object.fromEntries(others), ...(secretKey !== undefined && { [`${PREFIX}SECRET_KEY`]: secretKey }) };
}

function variablesIn(environment: NodeJS.ProcessEnv): { from: string; to: string }[] {
  return Object.keys(environment)
    .filter((name) => name.startsWith(FORMER))
    .sort()
    .map((name) => ({ from: name, to: PREFIX + name.slice(FORMER.length) }));
}

function unreadable(source: string, problems: Problem[]): UserError {
  if (problems[0]?.code !== 'no_configuration') {
    return invalidConfiguration(problems, 'Nothing was written. Correct the file, then import it again.');
  }
  return new UserError('no_configuration', `${source} does not exist`, {
    hint: 'DBSnapper keeps its configuration in ~/.config/dbsnapper/dbsnapper.yml',
  });
}
