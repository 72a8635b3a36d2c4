import { openContext } from '../../../src/cli/open-context.ts';
import { COMMANDS } from '../../../src/commands/registry.ts';
import { runWith, type TestedRun } from './cli-host.ts';
import { type ConfigFolder, configFolder, withKey } from './config-folder.ts';

export interface ConfiguredCli {
  folder: ConfigFolder;
  tool(words: string[], change?: Parameters<typeof runWith>[2]): Promise<TestedRun>;
  /** The last line of standard output as JSON. */
  json(words: string[]): Promise<{ exit: number; last: Record<string, unknown> }>;
}

/** The real command line, configuration and operations over a `tool.yml` with these lines and a `secret_key`. */
export async function configuredCli(text: string, files: Record<string, string> = {}): Promise<ConfiguredCli> {
  const ownVariables = { PATH: process.env.PATH, TMPDIR: process.env.TMPDIR };
  const folder = await configFolder({ 'tool.yml': withKey(text), ...files });
  const tool: ConfiguredCli['tool'] = (words, { environment, ...change } = {}) =>
    runWith(words, COMMANDS, {
      openContext,
      cwd: folder.path,
      clock: () => new Date(),
      environment: { ...{ TOOL_TRUST: 'true', HOME: folder.path }, ...ownVariables, ...environment },
      ...change,
    });
  return {
    folder,
    tool,
    async json(words) {
      const { exit, stdout } = await tool([...words, '--json']);
      return { exit, last: JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') };
    },
  };
}
