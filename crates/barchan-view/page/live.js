// The live page's own script, after all others. It talks to the server and hands frames and rows on:
// barchan.viewer.showFrame(buffer), barchan.plots.addRows(rows), barchan.plots.clear(). Its controls go
// into #live.
