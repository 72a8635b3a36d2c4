import { EXIT, UserError } from '../errors.ts';
import type { EngineId } from '../results.ts';
import { subsetWithChosenRunner, withChosenRunner } from './choose-runner.ts';
import type { Engine } from './engine.ts';
import { mysql } from './mysql/engine.ts';
import { mysqlSubset } from './mysql/subset/engine.ts';
import { postgres } from './postgres/engine.ts';
import { postgresSubset } from './postgres/subset/engine.ts';
import type { SubsetEngine } from './subset.ts';

export const engines: Engine[] = [postgres, mysql].map(withChosenRunner);

/** The engine that understands the URL's scheme. */
export function engineForUrl(url: string): Engine {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase() ?? '';
  const engine = engines.find((candidate) => candidate.schemes.includes(scheme));
  if (engine) return engine;
  const known = engines.flatMap((candidate) => candidate.schemes).map((name) => `${name}://`);
  throw new UserError(`No engine understands the scheme "${scheme}://" of the connection URL`, {
    code: 'scheme_unknown',
    exit: EXIT.configuration,
    hint: `A connection URL begins with ${known.join(' or ')}`,
  });
}

/** What makes subsets. */
export const subsetEngines: Record<EngineId, SubsetEngine> = {
  postgres: subsetWithChosenRunner(postgres, postgresSubset),
  mysql: mysqlSubset,
};
