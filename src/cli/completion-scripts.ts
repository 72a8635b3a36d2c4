export const COMPLETION_SCRIPTS: Record<string, string> = {
  bash: `# Completion of tool for bash; in ~/.bashrc: source <(tool completion bash)
_tool() {
  local current=\${COMP_WORDS[COMP_CWORD]} value rest
  COMPREPLY=()
  while IFS=$'\\t' read -r value rest; do
    if [[ $value == ':files' ]]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r value; do COMPREPLY+=("$value"); done < <(compgen -f -- "$current")
    else
      COMPREPLY+=("$value")
    fi
  done < <(tool __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _tool tool`,

  zsh: `#compdef tool
# Completion of tool for zsh; in ~/.zshrc, after compinit: source <(tool completion zsh)
_tool() {
  local -a candidates
  local value rest files
  while IFS=$'\\t' read -r value rest; do
    if [[ $value == ':files' ]]; then files=yes; else candidates+=("\${value//:/\\\\:}:$rest"); fi
  done < <(tool __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  (( \${#candidates} )) && _describe -V tool candidates
  [[ -n $files ]] && _files
}
if [[ $funcstack[1] == _tool ]]; then _tool "$@"; else compdef _tool tool; fi`,

  fish: `# Completion of tool for fish: tool completion fish > ~/.config/fish/completions/tool.fish
function __tool_complete
    set -l words (commandline -opc) (commandline -ct)
    for candidate in (tool __complete -- $words[2..-1] 2>/dev/null)
        if string match -q ':files*' -- $candidate
            __fish_complete_path (commandline -ct)
        else
            echo $candidate
        end
    end
end
complete -c tool -f -k -a '(__tool_complete)'`,
};
