export type Rule = 'target' | 'child' | 'parent' | 'copy' | 'excluded' | 'empty';
