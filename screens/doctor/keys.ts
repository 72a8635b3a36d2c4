import type { Facts } from '../app/facts.ts';
import type { KeyBinding } from '../app/key-binding.ts';
import { READ_ONLY } from '../app/why-not.ts';

export const DOCTOR_KEYS: KeyBinding[] = [
  {
    keys: ['f', 'enter'],
    action: 'show-fix',
    label: 'mend it',
    help: 'show what would mend the finding, and do it',
    whyNot: ({ readOnly, finding }: Facts) =>
      readOnly ? READ_ONLY : finding?.fix ? null : (whyNotMended(finding) ?? 'There is nothing to mend'),
  },
  {
    keys: ['E'],
    action: 'edit-finding',
    label: 'edit',
    help: 'edit the configuration where the finding is; in your editor when it is not valid YAML',
    whyNot: ({ readOnly, unconfigured }: Facts) =>
      readOnly ? READ_ONLY : unconfigured ? 'There is no configuration yet: i writes a first one' : null,
  },
];

function whyNotMended(finding: Facts['finding']): string | null {
  if (!finding || finding.state === 'good') return null;
  return finding.at ? 'Only you can know what is meant: E edits it' : 'No key can mend this';
}
