import type { KeyBinding } from '../app/key-binding.ts';
import { BACK } from '../app/shared-keys.ts';

export const TRUST_KEYS: KeyBinding[] = [
  {
    keys: ['y'],
    action: 'open',
    label: 'trust',
    help: 'trust the configuration as shown, and read it',
    stays: true,
  },
  { ...BACK, label: "don't trust", help: 'back; the configuration is not used', stays: true },
];
