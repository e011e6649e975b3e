-- Gram in Neovim 0.11 or newer. Copy this file into the directory `plugin` of your configuration.

-- The language server.
vim.filetype.add({ extension = { gram = "gram" } })

vim.lsp.config("gramc", {
  cmd = { "gramc", "lsp" },
  filetypes = { "gram" },
  root_markers = { "gram.toml", ".git" },
})
vim.lsp.enable("gramc")

-- Comments, and highlighting if the tree-sitter parser is installed.
vim.api.nvim_create_autocmd("FileType", {
  pattern = "gram",
  callback = function(event)
    vim.bo[event.buf].commentstring = "// %s"
    vim.bo[event.buf].shiftwidth = 2
    vim.bo[event.buf].expandtab = true
    if pcall(vim.treesitter.start, event.buf, "gram") then
      vim.wo.foldexpr = "v:lua.vim.treesitter.foldexpr()"
    end
  end,
})
