import { homedir, userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { dockerRunner } from '../process/docker.ts';
import type { Mount, Runner } from '../process/runner.ts';
import type { Report } from '../runtime/events.ts';
import { type EngineId, profileOf } from './list.ts';

export interface ContainersOptions {
  images: Partial<Record<EngineId, string | undefined>>;
  local: Runner;
  environment: NodeJS.ProcessEnv;
  report: Report;
  signal: AbortSignal;
  workFolders: string[];
}

/** The runner for an engine's containers; `null` without a configured image. */
export function containerRunners(
  options: ContainersOptions,
): (engine: EngineId, purpose?: 'server' | 'required') => Runner | null {
  const runners = new Map<EngineId, Runner>();
  return (engine, purpose) => {
    const image = options.images[engine] ?? (purpose === 'required' ? profileOf(engine).defaultImage : undefined);
    if (image === undefined) return null;
    if (purpose === 'server') {
      const { local: runner, report, signal } = options;
      return dockerRunner({ image, runner, report, signal, mounts: [], containerEnv: {}, env: {} });
    }
    const runner = runners.get(engine) ?? runnerFor(engine, image, options);
    runners.set(engine, runner);
    return runner;
  };
}

function runnerFor(engine: EngineId, image: string, options: ContainersOptions): Runner {
  const { local, environment, report, signal, workFolders } = options;
  const { variables, userVariable, sockets, homeFiles } = profileOf(engine).surroundings;
  const home = environment.HOME ?? homedir();
  const taken = Object.entries(environment).filter(
    (entry): entry is [string, string] => variables.test(entry[0]) && entry[1] !== undefined,
  );
  const paths = [...sockets, ...homeFiles.map((name) => join(home, name)), ...socketsNamed(taken)];
  const files = taken.map(([, value]) => value).filter(isAbsolute);
  return dockerRunner({
    image,
    runner: local,
    report,
    signal,
    mounts: [
      ...workFolders.map((path): Mount => ({ path, writable: true })),
      ...paths.map((path): Mount => ({ path })),
      ...files.map((path): Mount => ({ path, fileOnly: true })),
    ],
    containerEnv: { HOME: home },
    env: { [userVariable]: environment[userVariable] ?? userInfo().username, ...Object.fromEntries(taken) },
  });
}

/** libpq takes the folder of a socket for a host. */
function socketsNamed(variables: [string, string][]): string[] {
  return variables.flatMap(([name, value]) => (name === 'PGHOST' && isAbsolute(value) ? [value] : []));
}
