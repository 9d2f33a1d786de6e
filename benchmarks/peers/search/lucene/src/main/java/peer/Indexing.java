package peer;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.apache.lucene.analysis.core.WhitespaceAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.Version;

/** Documents, a line each `id<TAB>words`, into an index. */
final class Indexing {
  private static final double BUFFER_MB = 1500;

  private Indexing() {}

  private static IndexWriter writer(Path directory) throws IOException {
    IndexWriterConfig config = new IndexWriterConfig(new WhitespaceAnalyzer());
    config.setOpenMode(IndexWriterConfig.OpenMode.CREATE).setRAMBufferSizeMB(BUFFER_MB);
    config.setUseCompoundFile(false);
    return new IndexWriter(new MMapDirectory(directory), config);
  }

  private static Document document(String line) {
    int tab = line.indexOf('\t');
    Document document = new Document();
    document.add(new NumericDocValuesField("id", Long.parseLong(line.substring(0, tab))));
    document.add(new TextField("body", line.substring(tab + 1), Field.Store.NO));
    return document;
  }

  /** One segment; made once, found again afterwards. */
  static void build(Path documents, Path directory) throws IOException {
    Path made = directory.resolve("made");
    if (Files.exists(made)) {
      return;
    }
    Files.createDirectories(directory);
    try (IndexWriter writer = writer(directory);
        Stream<String> lines = Files.lines(documents)) {
      for (String line : (Iterable<String>) lines::iterator) {
        writer.addDocument(document(line));
      }
      writer.forceMerge(1);
      writer.commit();
    }
    Files.createFile(made);
  }

  /**
   * Reads `measure BATCH SHARDS`: a commit after so many documents, where BATCH is 0 one at the end; SHARDS are threads.
   * Answers documents a second, timed to the end of the last commit.
   */
  static void serve(Path path, Path directory) throws Exception {
    List<String> lines = Files.readAllLines(path);
    System.out.println(
        "ready Lucene " + Version.LATEST + " (2026) on Java " + System.getProperty("java.version") + ", " + lines.size() + " documents");
    BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
    for (String line = commands.readLine(); line != null; line = commands.readLine()) {
      String[] words = line.split(" ");
      System.out.println(measure(lines, directory, Integer.parseInt(words[1]), Integer.parseInt(words[2])));
    }
    remove(directory);
  }

  private static String measure(List<String> lines, Path directory, int batch, int threads) throws Exception {
    remove(directory);
    Files.createDirectories(directory);
    long begun = System.nanoTime();
    try (IndexWriter writer = writer(directory)) {
      AtomicInteger next = new AtomicInteger();
      Runnable work =
          () -> {
            try {
              for (int number = next.getAndIncrement(); number < lines.size(); number = next.getAndIncrement()) {
                writer.addDocument(document(lines.get(number)));
                if (batch > 0 && (number + 1) % batch == 0) {
                  writer.commit();
                }
              }
            } catch (IOException failure) {
              throw new UncheckedIOException(failure);
            }
          };
      List<Thread> running = Stream.generate(() -> new Thread(work)).limit(threads).toList();
      running.forEach(Thread::start);
      for (Thread thread : running) {
        thread.join();
      }
      writer.commit();
      double seconds = (System.nanoTime() - begun) / 1e9;
      try (DirectoryReader reader = DirectoryReader.open(writer)) {
        if (reader.numDocs() != lines.size()) {
          throw new IllegalStateException(reader.numDocs() + " documents are there, " + lines.size() + " were given");
        }
      }
      return String.format(Locale.ROOT, "%.1f %d %.3f", lines.size() / seconds, lines.size(), seconds);
    }
  }

  private static void remove(Path directory) throws IOException {
    if (!Files.exists(directory)) {
      return;
    }
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
