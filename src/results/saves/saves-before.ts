/** Operations before which the state of the destination that they would lose is saved by itself. */
export const SAVES_BEFORE = ['load', 'after_load', 'branch_switch', 'agent'] as const;

export type SaveBefore = (typeof SAVES_BEFORE)[number];
