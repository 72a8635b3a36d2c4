import { expect, test } from 'vitest';
import { compareTarget, leavesOf, settingsOf } from '../../src/cloud/compare.ts';

test.each(['{"snapshot": {"__proto__": {"polluted": true}}}', '{"constructor": {"prototype": {"polluted": true}}}'])(
  'settings of a hub change no prototype: %s',
  (text) => {
    const hub = leavesOf(JSON.parse(text));
    const { desired } = compareTarget({ file: new Map(), fileSecrets: {}, hub, hubSecrets: {}, applied: null });
    expect(JSON.parse(JSON.stringify(settingsOf(desired)))).toEqual(JSON.parse(text));
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  },
);
