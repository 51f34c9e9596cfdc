class Saddlebag < Formula
  desc "@DESCRIPTION@"
  homepage "@HOMEPAGE@"
  version "@VERSION@"
  license @LICENSE@

  @ARCHIVES@

  def install
    bin.install "saddlebag"
    generate_completions_from_executable(bin/"saddlebag", "completions")
    system bin/"saddlebag", "completions", "man", "--out", buildpath/"manual"
    man1.install Dir["manual/*.1"]
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/saddlebag --version")
    system bin/"saddlebag", "--root", testpath, "--notebook", "remember", "Tea", "The tea is green."
    assert_match "green", shell_output("#{bin}/saddlebag --root #{testpath} --notebook recall tea")
  end
end
