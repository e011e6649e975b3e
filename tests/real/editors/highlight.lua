-- Parses texts with the grammar that a test has compiled, and lists the highlights of one of them.
-- Reads and writes JSON: variables of the environment say where.

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("*a")
  file:close()
  return text
end

local function main()
  local env = vim.env
  -- The first is Neovim 0.9's and newer, the second that of older ones.
  local language, query = vim.treesitter.language, vim.treesitter.query
  if language and language.add then
    language.add("gram", { path = env.GRAM_LANGUAGE })
  else
    vim.treesitter.require_language("gram", env.GRAM_LANGUAGE)
  end
  local function parse(text)
    return vim.treesitter.get_string_parser(text, "gram"):parse()[1]:root()
  end

  local accepted = {}
  for i, text in ipairs(vim.json.decode(read(env.GRAM_TEXTS))) do
    accepted[i] = not parse(text):has_error()
  end

  local highlights = (query.parse or query.parse_query)("gram", read(env.GRAM_HIGHLIGHTS))
  local text = read(env.GRAM_SHOWN)
  local names, order = {}, {}
  for id, node in highlights:iter_captures(parse(text), text, 0, -1) do
    local name = highlights.captures[id]
    local row, column, from = node:start()
    local _, _, to = node:end_()
    if name:sub(1, 1) ~= "_" then
      local place = ("%d:%d %s"):format(row + 1, column + 1, (text:sub(from + 1, to):gsub("\n.*", "…")))
      if not names[place] then
        table.insert(order, place)
      end
      -- Of several the last one counts.
      names[place] = name
    end
  end
  local shown = {}
  for i, place in ipairs(order) do
    shown[i] = names[place] .. " " .. place
  end

  local file = assert(io.open(env.GRAM_FOUND, "wb"))
  file:write(vim.json.encode({ accepted = accepted, highlights = shown }))
  file:close()
end

local fine, message = xpcall(main, debug.traceback)
if not fine then
  io.stderr:write(message .. "\n")
end
vim.cmd(fine and "qall!" or "cquit!")
