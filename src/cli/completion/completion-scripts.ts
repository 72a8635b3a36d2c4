export const COMPLETION_SCRIPTS: Record<string, string> = {
  bash: `# Completion of tool for bash; in ~/.bashrc: source <(tool completion bash)
# app@main is one word.
COMP_WORDBREAKS=\${COMP_WORDBREAKS//@/}
_tool() {
  local current=\${COMP_WORDS[COMP_CWORD]} quote= value rest word
  local -a words=()
  COMPREPLY=()
  # Words arrive as they are typed: with their quotes and backslashes.
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD}"; do
    case $word in
      [\\"\\']*) word=\${word//[\\"\\']/} ;;
      *) word=\${word//\\\\/} ;;
    esac
    words+=("$word")
  done
  [[ $current == [\\"\\']* ]] && quote=\${current:0:1}
  (( \${#words[@]} )) && current=\${words[\${#words[@]} - 1]}
  while IFS=$'\\t' read -r value rest; do
    if [[ $value == ':files' ]]; then
      while IFS= read -r value; do
        # Hidden files are offered once a dot is typed.
        [[ \${value##*/} == .* && \${current##*/} != .* ]] && continue
        if [[ -d $value ]]; then value+=/; compopt -o nospace 2>/dev/null
        elif [[ $value != *"$rest" ]]; then continue; fi
        _tool_reply "$value"
      done < <(compgen -f -- "$current")
    else
      _tool_reply "$value"
    fi
  done < <(tool __complete -- "\${words[@]}" 2>/dev/null)
}
_tool_reply() {
  [[ -z $quote ]] && printf -v value %q "$1"
  COMPREPLY+=("$value")
}
complete -F _tool tool`,

  zsh: `#compdef tool
# Completion of tool for zsh; in ~/.zshrc, after compinit: source <(tool completion zsh)
_tool() {
  local -a candidates
  local value rest files
  while IFS=$'\\t' read -r value rest; do
    if [[ $value == ':files' ]]; then files="*$rest"; else candidates+=("\${value//:/\\\\:}:$rest"); fi
  done < <(tool __complete -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)
  (( \${#candidates} )) && _describe -V tool candidates
  [[ -n $files ]] && _files -g "$files"
}
if [[ $funcstack[1] == _tool ]]; then _tool "$@"; else compdef _tool tool; fi`,

  fish: `# Completion of tool for fish: tool completion fish > ~/.config/fish/completions/tool.fish
function __tool_complete
    set -l words (commandline -opc) (commandline -ct)
    for candidate in (tool __complete -- $words[2..-1] 2>/dev/null)
        if string match -q ':files*' -- $candidate
            set -l ending (string split -m 1 \\t -- $candidate)[2]
            for file in (__fish_complete_path (commandline -ct))
                string match -q -r -- '/$|/\\t' $file; or string match -q -- "*$ending" (string split \\t -- $file)[1]; and echo $file
            end
        else
            echo $candidate
        end
    end
end
complete -c tool -f -k -a '(__tool_complete)'`,
};
