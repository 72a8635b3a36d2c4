/** By which a table gets its rows. */
export type Rule = 'target' | 'child' | 'parent' | 'copy' | 'excluded' | 'empty';
