import type { FileRequest } from '../../config/config-file.ts';
import { explainConfiguration } from '../../config/explain.ts';
import { inspectConfiguration } from '../../config/load.ts';
import { parseUrl } from '../../engines/registry.ts';
import type { ShownConfiguration } from '../../results/configuration/configuration-results.ts';

/** The configuration in force, each value with its origin, and what is wrong with it; `text` is the file's. */
export async function show(request: FileRequest): Promise<{ shown: ShownConfiguration; text: string }> {
  const { file, shadowed, mode, problems, text, ...inspected } = await inspectConfiguration(request);
  const values = explainConfiguration({
    ...inspected,
    showUrl: (url) => parseUrl(url).display,
  });
  return { shown: { file, shadowed, mode, values, problems }, text };
}
