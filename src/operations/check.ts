import type { Problem } from '../config/configuration.ts';
import { inspectConfiguration } from '../config/load.ts';
import type { Mode } from '../config/mode.ts';
import type { EngineContext, ToolReport } from '../engines/engine.ts';
import { engines } from '../engines/registry.ts';
import { localRunner } from '../process/local.ts';

export interface CheckRequest extends Omit<EngineContext, 'runner'> {
  /** The file given with `--config`. */
  file?: string | undefined;
  cwd: string;
}

/** What `config check` finds: the shape of its JSON. */
export interface CheckReport {
  /** Whether no problem is an error. */
  ok: boolean;
  file: string | null;
  /** The user's own file when it is there and not read, because `./tool.yml` is there. */
  shadowed: string | null;
  mode: Mode;
  problems: Problem[];
  engines: EngineState[];
}

export interface EngineState {
  /** The engine and where its tools run: `postgres-local`. */
  id: string;
  ok: boolean;
  tools: ToolReport[];
}

/** Everything that is wrong with the configuration, and the engines that could work with it; `text` is the file's. */
export async function check(request: CheckRequest): Promise<{ report: CheckReport; text: string }> {
  const [{ file, shadowed, text, mode, problems }, states] = await Promise.all([
    inspectConfiguration(request),
    findEngines(request),
  ]);
  const ok = problems.every(({ severity }) => severity !== 'error');
  return { report: { ok, file, shadowed, mode, problems, engines: states }, text };
}

async function findEngines(request: CheckRequest): Promise<EngineState[]> {
  const { environment, report } = request;
  const context = { ...request, runner: localRunner({ environment, report }) };
  return Promise.all(
    engines.map(async (engine) => {
      const tools = await engine.reportTools(context);
      return { id: `${engine.id}-${context.runner.id}`, ok: tools.length > 0, tools };
    }),
  );
}
