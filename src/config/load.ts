import type { Configuration } from './configuration.ts';

export interface LoadOptions {
  /** The file given with `--config`; it must exist. Without it the usual places are searched. */
  file?: string | undefined;
  environment: NodeJS.ProcessEnv;
  cwd: string;
}

/** The configuration in force; throws with exit 3 when it is missing or not valid. */
export async function loadConfiguration(_options: LoadOptions): Promise<Configuration> {
  throw new Error('stub');
}
