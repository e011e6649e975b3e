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
})
vim.lsp.enable("gramc")

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
