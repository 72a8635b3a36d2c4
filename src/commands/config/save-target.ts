import { defineCommand } from '../../cli/command.ts';
import { requiresFlag } from '../wrong-usage.ts';

export const configSaveTargetCommand = defineCommand({
  name: 'config save-target',
  summary: 'write the databases of --from and --to into the configuration, as a target',
  group: 'Set up',
  examples: [
    {
      command: 'tool config save-target --from postgres://db/shop --to postgres://dev/shop',
      does: 'name a source and a destination once',
    },
  ],
  json: 'document',
  async run({ globals, environment, cwd }) {
    const { saveTarget } = await import('../../operations/configuration/save-target.ts');
    const { urlTarget } = await import('../../config/urls/url-target.ts');
    const { savedTargetText } = await import('../../operations/configuration/text.ts');
    const { config: file, from, to } = globals;
    if (from === undefined) {
      throw requiresFlag('config save-target', '--from', 'tool config save-target --from URL --to URL');
    }
    const saved = await saveTarget({ file, environment, cwd }, urlTarget({ from, to }, environment));
    return { data: saved, text: savedTargetText(saved) };
  },
});
