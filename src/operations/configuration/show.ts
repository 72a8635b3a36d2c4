import type { FileRequest } from '../../config/config-file.ts';
import type { Problem } from '../../config/configuration.ts';
import { explainConfiguration } from '../../config/explain.ts';
import { inspectConfiguration } from '../../config/load.ts';
import type { Mode } from '../../config/mode.ts';
import { parseUrl } from '../../engines/registry.ts';
import type { ExplainedValue } from '../../results/results.ts';

/** Result of `config show`: the shape of its JSON. */
export interface ShownConfiguration {
  file: string | null;
  /** The user's own file when it is there and not read, because `./tool.yml` is there. */
  shadowed: string | null;
  mode: Mode;
  values: ExplainedValue[];
  problems: Problem[];
}

/** The configuration in force, each value with its origin, and what is wrong with it; `text` is the file's. */
export async function show(request: FileRequest): Promise<{ shown: ShownConfiguration; text: string }> {
  const { file, shadowed, mode, problems, text, ...inspected } = await inspectConfiguration(request);
  const values = explainConfiguration({
    ...inspected,
    showUrl: (url) => parseUrl(url).display,
  });
  return { shown: { file, shadowed, mode, values, problems }, text };
}
