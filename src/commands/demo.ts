import { defineCommand } from '../cli/command.ts';

export const demoCommand = defineCommand({
  name: 'demo',
  summary: 'try the program on a temporary database with sample data',
  group: 'Set up',
  examples: [{ command: 'tool demo', does: 'start a database and open the screens on it' }],
  json: 'events',
  async run(invocation) {
    const { DEMO_ENDED, tourText } = await import('../operations/configuration/text.ts');
    const { startDemo, tourDemo } = await import('../operations/demo.ts');
    const { screens, report, signal, environment } = invocation;
    const options = { report, signal, environment, clock: () => new Date() };
    await using demo = await startDemo(options);
    if (screens) {
      const exit = await screens({ config: demo.config, environment: demo.environment });
      return { data: {}, text: DEMO_ENDED, exit };
    }
    const tour = await tourDemo(demo, options);
    return { data: tour, text: tourText(demo.source, tour) };
  },
});
