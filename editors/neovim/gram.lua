-- Gram in Neovim 0.11 or newer. Copy this file into the directory `plugin` of your configuration.

-- The language server.
vim.filetype.add({ extension = { gram = "gram" } })

vim.lsp.config("gramc", {
  cmd = { "gramc", "lsp" },
  filetypes = { "gram", "markdown", "toml", "json", "jsonl" },
  -- Files of other languages are checked in directories with a `gram.toml` only.
  root_dir = function(buffer, start)
    local project = vim.fs.root(buffer, "gram.toml")
    local name = vim.api.nvim_buf_get_name(buffer)
    local filetype = vim.bo[buffer].filetype
    if filetype == "gram" then
      start(project or vim.fs.root(buffer, ".git"))
    elseif project and (filetype == "markdown" or vim.fs.basename(name) == "gram.toml" or name:match("%.jsonl$")) then
      start(project)
    end
  end,
  -- Lenses with the command that is defined below.
  capabilities = { experimental = { commands = { commands = { "gram.run" } } } },
})
vim.lsp.enable("gramc")

-- The arguments of a runnable with the user's answers, one question after the other.
local function complete(runnable, at, arguments, done)
  local ask = runnable.asks[at]
  if not ask then
    return done(arguments)
  end
  local function answered(answer)
    local completed = {}
    for _, argument in ipairs(arguments) do
      vim.list_extend(completed, argument == ask.placeholder and answer or { argument })
    end
    complete(runnable, at + 1, completed, done)
  end
  local choices = ask.choices or {}
  if #choices == 1 then
    answered(choices[1].arguments)
  elseif #choices > 1 then
    local options = { prompt = ask.title, format_item = function(it) return it.label end }
    vim.ui.select(choices, options, function(it) if it then answered(it.arguments) end end)
  else
    local options = { prompt = ask.title .. ": ", default = ask.value }
    vim.ui.input(options, function(text) if text then answered({ text }) end end)
  end
end

-- Shows a text in a floating window, which `q` closes.
local function float(title, text, filetype)
  local lines = vim.split(vim.trim(text), "\n")
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  vim.bo[buffer].filetype = filetype
  local window = vim.api.nvim_open_win(buffer, true, {
    relative = "editor",
    row = 2,
    col = 2,
    width = math.max(20, vim.o.columns - 6),
    height = math.max(3, math.min(#lines + 6, vim.o.lines - 6)),
    border = "rounded",
  })
  vim.wo[window].wrap = true
  vim.w[window].gram_result = title
  vim.keymap.set("n", "q", "<cmd>close<cr>", { buffer = buffer })
end

-- Runs the command of a lens: a call or test of a tool, an agent, an experiment.
vim.lsp.commands["gram.run"] = function(command)
  local runnable = command.arguments[1]
  -- gramc reads the files on disk.
  vim.cmd("silent! wall")
  complete(runnable, 1, runnable.arguments, function(arguments)
    local report
    for at, argument in ipairs(arguments) do
      if argument == "{report}" then
        report = vim.fn.tempname()
        arguments[at] = report
      end
    end
    local line = vim.list_extend({ "gramc" }, arguments)
    local options = { cwd = runnable.folder, text = true, env = { NO_COLOR = "1" } }
    vim.system(line, options, vim.schedule_wrap(function(ran)
      local is_json = runnable.output == "json" and ran.stdout ~= ""
      local text = is_json and ran.stdout or ran.stdout .. ran.stderr
      if report and ran.stdout ~= "" then
        text = text .. "\nThe report is " .. report .. "/report.html"
      end
      float(runnable.label, text, is_json and "json" or "text")
    end))
  end)
end

-- `:GramRun` runs a lens of the current line.
vim.api.nvim_create_user_command("GramRun", function() vim.lsp.codelens.run() end, {})

vim.api.nvim_create_autocmd("LspAttach", {
  callback = function(event)
    local client = vim.lsp.get_client_by_id(event.data.client_id)
    if client and client.name == "gramc" then
      vim.api.nvim_create_autocmd({ "BufEnter", "InsertLeave", "BufWritePost" }, {
        buffer = event.buf,
        callback = function() vim.lsp.codelens.refresh({ bufnr = event.buf }) end,
      })
      vim.lsp.codelens.refresh({ bufnr = event.buf })
    end
  end,
})

-- Two spaces for each bracket that is open at the end of the line before.
function GramIndent()
  local before = vim.fn.prevnonblank(vim.v.lnum - 1)
  if before == 0 then
    return 0
  end
  local function code(line)
    local text = vim.fn.getline(line):gsub('"[^"]*"', ""):gsub("'[^']*'", ""):gsub("`[^`]*`", "")
    return (text:gsub("//.*", ""))
  end
  local closing = code(before):match("^%s*([%]%)}]*)")
  local _, opened = code(before):gsub("[%[%({]", "")
  local _, closed = code(before):gsub("[%]%)}]", "")
  local own = code(vim.v.lnum):match("^%s*([%]%)}]*)")
  local depth = opened - (closed - #closing) - #own
  return math.max(0, vim.fn.indent(before) + depth * vim.bo.shiftwidth)
end

-- Comments, folds, and highlighting if the tree-sitter parser is installed.
vim.api.nvim_create_autocmd("FileType", {
  pattern = "gram",
  callback = function(event)
    vim.bo[event.buf].commentstring = "// %s"
    vim.bo[event.buf].shiftwidth = 2
    vim.bo[event.buf].expandtab = true
    vim.bo[event.buf].indentexpr = "v:lua.GramIndent()"
    vim.bo[event.buf].indentkeys = "0],0),0},o,O"
    local parser = pcall(vim.treesitter.start, event.buf, "gram")
    local source = parser and "treesitter" or "lsp"
    vim.opt_local.foldexpr = "v:lua.vim." .. source .. ".foldexpr()"
    vim.opt_local.foldmethod = "expr"
    vim.opt_local.foldlevel = 99
  end,
})
