export type TableRole = 'target' | 'child' | 'parent' | 'copy' | 'excluded' | 'empty';
