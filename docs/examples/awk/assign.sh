# Answer each line of standard input with one line. One awk per line: some read ahead.
cd "$(dirname "$0")" || exit
while IFS= read -r line; do
    printf '%s\n' "$line" | awk -f json.awk -f "$1"
done
