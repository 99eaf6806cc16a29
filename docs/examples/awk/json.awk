# Read a line of JSON: seen() is called for every key and found() for every value, with
# the keys on the way to it in key[1], key[2], ... Names keep their quotation marks.

function read_line(line) { rest = line; take(); read(1) }

function take() {
    sub(/^[ ,:]+/, "", rest)
    match(rest, /^("([^"\\]|\\.)*"|[^][{}",: ]+|[][{}])/)
    token = substr(rest, 1, RLENGTH)
    rest = substr(rest, RLENGTH + 1)
    if (token == "") exit 1  # the line ends too early
}

function read(depth) {
    if (token == "{")
        for (take(); token != "}"; take()) {
            key[depth] = token; seen(depth)
            take(); read(depth + 1)
        }
    else if (token == "[")
        for (take(); token != "]"; take()) read(depth)
    else found(depth - 1)
}
