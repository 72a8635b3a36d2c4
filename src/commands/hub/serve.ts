import { defineCommand } from '../../cli/command.ts';

export const hubServeCommand = defineCommand({
  name: 'hub serve',
  summary: 'serve the targets and snapshots of a team',
  group: 'Hub',
  options: [{ flags: '--dev', description: 'run a trial with a throw-away database; print its owner token once' }],
  examples: [
    { command: 'tool hub serve --dev', does: 'run a trial on 127.0.0.1:3000' },
    { command: 'tool hub serve', does: 'use the settings TOOL_HUB_*, see docs/hub.md' },
  ],
  json: 'document',
  async run({ options, environment, report, signal, write, grammar }) {
    // Garbage of requests is collected as fast in 2 MB as in 100.
    const { keepHeapSmall } = await import('../../runtime/keep-heap-small.ts');
    keepHeapSmall();
    const { dev = false } = options;
    const clock = () => new Date();
    const [{ serve }, { readHubSettings }, { keyOf }] = await Promise.all([
      import('../../../hub/serve.ts'),
      import('../../../hub/settings/settings.ts'),
      import('../../../hub/settings/parse-values.ts'),
    ]);
    const isOwnDatabase = dev && !environment.TOOL_HUB_DATABASE_URL && !environment.TOOL_HUB_DATABASE_URL_FILE;
    const common = { dev, version: grammar.version, write, signal, clock };
    if (!isOwnDatabase) {
      await serve({ ...common, settings: await readHubSettings(environment, { dev }) });
      return { data: {}, text: '' };
    }
    const [{ startHubDatabase }, { randomBytes }] = await Promise.all([
      import('../../operations/hub-database.ts'),
      import('node:crypto'),
    ]);
    // Settings that are not valid are reported before a server is started for them.
    const keys = [keyOf(randomBytes(32))];
    await readHubSettings(environment, { dev, keys, databaseUrl: '' });
    await using database = await startHubDatabase({ report, environment, clock });
    const settings = await readHubSettings(environment, { dev, keys, databaseUrl: database.url });
    await serve({ ...common, settings });
    const { TRIAL_ENDED } = await import('./text.ts');
    return { data: {}, text: TRIAL_ENDED };
  },
});
