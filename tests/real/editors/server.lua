-- Uses the language server as somebody does who edits: looks at diagnostics, asks, and changes texts.
-- Writes what came of it as JSON; variables of the environment say where.

local env = vim.env
local LIMIT = 60000

local function main()
  local found = {}
  vim.cmd("edit " .. env.GRAM_FOLDER .. "/tools.gram")
  local buffer = vim.api.nvim_get_current_buf()
  local uri = vim.uri_from_bufnr(buffer)
  local client = vim.lsp.start_client({
    name = "gramc",
    cmd = { env.GRAMC, "lsp" },
    root_dir = env.GRAM_FOLDER,
    workspace_folders = { { name = "tools", uri = vim.uri_from_fname(env.GRAM_FOLDER) } },
  })
  vim.lsp.buf_attach_client(buffer, client)

  local function lines()
    return vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  end
  -- The place of a word's first letter, as the protocol counts; and its byte in the line.
  local function place(word)
    for number, line in ipairs(lines()) do
      local at = line:find(word, 1, true)
      if at then
        local _, units = vim.str_utfindex(line, at - 1)
        return { line = number - 1, character = units }, at - 1
      end
    end
    error(word .. " stands nowhere")
  end
  local function ask(method, params)
    params.textDocument = { uri = uri }
    local answers, problem = vim.lsp.buf_request_sync(buffer, method, params, LIMIT)
    assert(answers, method .. ": " .. tostring(problem))
    local answer = answers[client]
    assert(answer and not answer.err, method .. ": " .. vim.inspect(answer))
    return answer.result
  end
  local function diagnostics()
    local shown = {}
    for _, one in ipairs(vim.diagnostic.get(buffer)) do
      table.insert(shown, ("%s %d:%d-%d:%d"):format(one.code, one.lnum, one.col, one.end_lnum, one.end_col))
    end
    table.sort(shown)
    return shown
  end
  local function wait(what, condition)
    assert(vim.wait(LIMIT, condition, 20), what .. " did not come: " .. vim.inspect(diagnostics()))
  end

  wait("a diagnostic", function() return #diagnostics() > 0 end)
  found.diagnostics = diagnostics()

  -- The fix that the server offers first.
  local start = place("Adress")
  local range = { start = start, ["end"] = { line = start.line, character = start.character + 6 } }
  local context = { diagnostics = {}, only = { "quickfix" } }
  local actions = ask("textDocument/codeAction", { range = range, context = context })
  found.fix = actions[1].title
  vim.lsp.util.apply_workspace_edit(actions[1].edit, "utf-16")
  wait("no diagnostic", function() return #diagnostics() == 0 end)
  found.fixed = table.concat(lines(), "\n")

  local hover = ask("textDocument/hover", { position = (place("send:Tool")) })
  found.hover = hover.contents.value or hover.contents

  -- Typing a new parameter, whose type is asked for.
  local function type_in(word, text)
    local start, byte = place(word)
    vim.api.nvim_buf_set_text(buffer, start.line, byte, start.line, byte, { text })
  end
  type_in("==>(::Null)", "==>(from::)")
  local inside = place(")==>(::Null)")
  local completion = ask("textDocument/completion", { position = inside })
  found.completion = {}
  for _, item in ipairs(completion.items or completion) do
    table.insert(found.completion, item.label)
  end
  type_in(")==>(::Null)", "Address {description: \"Where it comes from\"}")

  local edit = ask("textDocument/rename", { position = (place("Address")), newName = "Place" })
  vim.lsp.util.apply_workspace_edit(edit, "utf-16")
  found.renamed = table.concat(lines(), "\n")
  local other = vim.fn.bufnr(env.GRAM_FOLDER .. "/types.gram")
  assert(other > 0, "the other file was not changed")
  -- With a configuration, opening it does this.
  vim.lsp.buf_attach_client(other, client)
  found.other = table.concat(vim.api.nvim_buf_get_lines(other, 0, -1, false), "\n")

  local options = { tabSize = 2, insertSpaces = true }
  local edits = ask("textDocument/formatting", { options = options })
  vim.lsp.util.apply_text_edits(edits or {}, buffer, "utf-16")
  found.formatted = table.concat(lines(), "\n")
  wait("no diagnostic at the end", function() return #diagnostics() == 0 end)

  vim.lsp.get_client_by_id(client).stop()
  found.stopped = vim.wait(LIMIT, function() return vim.lsp.client_is_stopped(client) end, 20)

  local file = assert(io.open(env.GRAM_FOUND, "wb"))
  file:write(vim.json.encode(found))
  file:close()
end

local fine, message = xpcall(main, debug.traceback)
if not fine then
  io.stderr:write(message .. "\n")
end
vim.cmd(fine and "qall!" or "cquit!")
